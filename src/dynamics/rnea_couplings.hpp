#pragma once
// The part of prepare_rnea_products that comes after the motion's rates.

#include "articula/dynamics/rnea_derivatives.hpp"

namespace articula {

// Fills psi_ddot and the couplings of all links; after sweep_motion with accelerations.
void prepare_rnea_couplings(const Model& model, const Data& data, RneaDerivativeWork& work,
                            const DynamicsOptions& options);

}  // namespace articula
