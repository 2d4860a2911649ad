#pragma once
// The parts of prepare_rnea_products that come after the motion's rates.

#include "articula/dynamics/rnea_derivatives.hpp"

namespace articula {

// What products against covectors need: psi_ddot, gyroscopic torques, and how external wrenches turn.
void prepare_rnea_rates(const Model& model, const Data& data, RneaDerivativeWork& work,
                        const DynamicsOptions& options);
// Velocities, accelerations, forces, their rates, and all of the above in one pass over the tree, after
// forward_kinematics and place_inertias; dof_v and dof_a are left alone.
void sweep_rnea_rates(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                      const double* a, const DynamicsOptions& options);
// Then what products along directions and matrices need, too: the couplings of all links.
void prepare_rnea_couplings(const Model& model, const Data& data, RneaDerivativeWork& work);

}  // namespace articula
