#include "articula/dynamics/forward_derivatives.hpp"

#include "articula/dynamics/aba.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

ForwardDerivativeWork::ForwardDerivativeWork(const Model& model)
    : nv(model.nv()),
      width((nv + 3) / 4 * 4),
      blocks(RowMatrix::Zero(nv, 3 * width)),
      acceleration(nv),
      rnea(model) {}

bool prepare_forward_products(const Model& model, Data& data, ForwardDerivativeWork& work,
                              const ConstVectorRef& q, const ConstVectorRef& v, const ConstVectorRef& tau,
                              const DynamicsOptions& options) {
  const bool positive = aba(model, data, q, v, tau, work.acceleration, options);
  place_inertias(model, data);
  propagate_motion(model, data, v.data(), work.acceleration.data());
  gather_forces(model, data, options);
  prepare_rnea_products(model, data, work.rnea, v.data(), work.acceleration.data(), options);
  return positive;
}

// The bias at zero acceleration gives a through the factor; with a the forces are gathered again,
// because the derivatives need those of the motion that really happens.
bool forward_dynamics_derivatives(const Model& model, Data& data, ForwardDerivativeWork& work,
                                  const ConstVectorRef& q, const ConstVectorRef& v, const ConstVectorRef& tau,
                                  const DynamicsOptions& options) {
  require_size("v", v.size(), model.nv());
  require_size("tau", tau.size(), model.nv());
  bias_forces(model, data, q, v, work.acceleration, options);
  composite_mass_matrix(model, data);
  const bool positive = factor_mass_matrix(model, data);
  work.acceleration = tau - work.acceleration;
  solve_mass_matrix(model, data, work.acceleration);
  propagate_motion(model, data, v.data(), work.acceleration.data());
  gather_forces(model, data, options);
  prepare_rnea_derivatives(model, data, work.rnea, v.data(), work.acceleration.data(), options);
  work.blocks.setZero();
  const int stride = static_cast<int>(work.blocks.cols());
  assemble_rnea_derivatives(model, data, work.rnea, -1.0,
                            {work.blocks.data(), work.blocks.data() + work.width, stride, 1});
  solve_mass_matrix_columns(model, data, work.blocks.leftCols(2 * work.width));
  inverse_mass_matrix(model, data, work.blocks.middleCols(2 * work.width, work.nv));
  return positive;
}

void forward_dynamics_directional(const Model& model, Data& data, ForwardDerivativeWork& work,
                                  const ConstVectorRef& dq, const ConstVectorRef& dv,
                                  const ConstVectorRef& dtau, VectorRef da, const DynamicsOptions& options) {
  da.setZero();
  rnea_directional(model, data, work.rnea, options.external != nullptr, dq, dv, da, da);
  da = dtau - da;
  aba_solve(model, data, da);
}

void forward_dynamics_adjoint(const Model& model, Data& data, ForwardDerivativeWork& work,
                              const ConstVectorRef& a_bar, VectorRef q_bar, VectorRef v_bar,
                              VectorRef tau_bar, const DynamicsOptions& options) {
  tau_bar = a_bar;
  aba_solve(model, data, tau_bar);
  rnea_adjoint(model, data, work.rnea, options.external != nullptr, tau_bar, q_bar, v_bar);
  q_bar = -q_bar;
  v_bar = -v_bar;
}

}  // namespace articula
