#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// fusestatic of <compiler>: bodies without joints become part of their parents, unless something refers
// to them or the forces on them would be lost.
void fuse_static(Reader& reader);

// Geometries and sites in the order of their bodies, as MuJoCo numbers them.
void group_by_body(Description& description);

}  // namespace articula::mjcf
