#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// <inertial>
InertiaDescription read_inertial(const Reader& reader, const Attributes& a);

// boundmass, boundinertia and balanceinertia of <compiler>; an Error where no body can have such an
// inertia.
void bound_inertia(const Compiler& compiler, const Element& body, InertiaDescription& inertia);

// The bodies that have joints, but neither they nor anything welded to them has mass and inertia.
std::vector<std::size_t> bodies_without_mass(const std::vector<BodyDescription>& bodies);
// Throws where a body has joints but neither it nor anything welded to it has mass and inertia.
void require_moving_mass(const Reader& reader);

// Scales all masses and inertias.
void set_total_mass(Description& description, double mass);

}  // namespace articula::mjcf
