#pragma once
// Velocities and their rates in one pass over the tree.

#include "articula/kinematics/motion.hpp"

namespace articula {

// As propagate_motion and motion_rates, together. Without `accelerations` link_a and dof_a are left alone.
void sweep_motion(const Model& model, Data& data, const double* v, const double* a, bool accelerations);

}  // namespace articula
