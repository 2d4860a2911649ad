#pragma once
// Velocities and their rates in one pass over the tree.

#include "articula/kinematics/motion.hpp"

namespace articula {

// As propagate_motion and motion_rates, together. Without `accelerations` link_a and dof_a are left alone.
void sweep_motion(const Model& model, Data& data, const double* v, const double* a, bool accelerations);

// The velocities of links and the rates of axes alone, link_v and psi_dot of `to`, with the kinematics of
// `at`.
void sweep_velocities(const Model& model, const Data& at, const double* v, Data& to);

}  // namespace articula
