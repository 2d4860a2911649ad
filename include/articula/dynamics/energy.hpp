#pragma once
// Conserved quantities and centres of mass.

#include "articula/kinematics/motion.hpp"

namespace articula {

struct Energy {
  double kinetic = 0.0;    // armature included
  double potential = 0.0;  // gravity, from the world's origin
  double elastic = 0.0;    // springs of joints and tendons
  double total() const { return kinetic + potential + elastic; }
};

// After forward_kinematics, place_inertias and propagate_motion for (q, v).
Energy energy(const Model& model, const Data& data, const ConstVectorRef& q, const ConstVectorRef& v);

// After forward_kinematics and place_inertias: of all moving links, in the world.
Vector3 centre_of_mass(const Model& model, const Data& data);

// Linear momentum (3), then angular momentum about the centre of mass of all moving links (3);
// after propagate_motion.
Vector6 momentum(const Model& model, const Data& data);

}  // namespace articula
