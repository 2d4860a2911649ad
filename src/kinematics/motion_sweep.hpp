#pragma once
// Velocities and the rates of axes in one pass over the tree.

#include "articula/kinematics/motion.hpp"

namespace articula {

// The velocities of links and the rates of axes alone, link_v and psi_dot of `to`, with the kinematics of
// `at`.
void sweep_velocities(const Model& model, const Data& at, const double* v, Data& to);

}  // namespace articula
