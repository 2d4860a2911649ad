#pragma once
// What relative differences of parameters are relative to.

#include "articula/model/model.hpp"

namespace articula {

// The number itself, or where it is nothing beside the others of its slice, the largest of these. Numbers
// that may be zero beside an inertia are as large as what would change a step of length dt as much as that
// does:
//   bodies           m, m r, m r^2, with the radius of gyration about the centre of mass, m r^2 = tr I
//   joints, tendons  armature I, damping I / dt, dry friction I / dt (times 1 rad/s or m/s), stiffness I /
//   dt^2
VectorX parameter_sizes(const Model& model, double dt);

}  // namespace articula
