#pragma once
// Derivatives of forward dynamics a = M^-1 (tau - c + J^T f):
//   da/dq = -M^-1 dtau/dq,   da/dv = -M^-1 dtau/dv,   da/dtau = M^-1       (dtau/d. at a, rnea_derivatives)

#include "articula/dynamics/rnea_derivatives.hpp"

namespace articula {

struct ForwardDerivativeWork {
  explicit ForwardDerivativeWork(const Model& model);

  // Results: three blocks side by side, row-major, each nv x nv.
  auto da_dq() const { return blocks.leftCols(nv); }
  auto da_dv() const { return blocks.middleCols(width, nv); }
  auto da_dtau() const { return blocks.middleCols(2 * width, nv); }

  int nv = 0, width = 0;  // width: nv rounded up to whole registers
  RowMatrix blocks;       // nv x 3 width
  VectorX acceleration;   // nv
  RneaDerivativeWork rnea;
};

// Fills the work's acceleration and derivatives; data.factor holds the factor of M.
// False if M is singular to rounding (the results are then not finite).
[[nodiscard]] bool forward_dynamics_derivatives(const Model& model, Data& data, ForwardDerivativeWork& work,
                                                const ConstVectorRef& q, const ConstVectorRef& v,
                                                const ConstVectorRef& tau,
                                                const DynamicsOptions& options = {});

// Acceleration and everything the products need, O(N): fills work.acceleration and work.rnea.
[[nodiscard]] bool prepare_forward_products(const Model& model, Data& data, ForwardDerivativeWork& work,
                                            const ConstVectorRef& q, const ConstVectorRef& v,
                                            const ConstVectorRef& tau, const DynamicsOptions& options = {});

// Products, O(N); after prepare_forward_products with the same `options`.
void forward_dynamics_directional(const Model& model, Data& data, ForwardDerivativeWork& work,
                                  const ConstVectorRef& dq, const ConstVectorRef& dv,
                                  const ConstVectorRef& dtau, VectorRef da,
                                  const DynamicsOptions& options = {});
// tau_bar = M^-1 a_bar, q_bar = -(dtau/dq)^T tau_bar, v_bar = -(dtau/dv)^T tau_bar
void forward_dynamics_adjoint(const Model& model, Data& data, ForwardDerivativeWork& work,
                              const ConstVectorRef& a_bar, VectorRef q_bar, VectorRef v_bar,
                              VectorRef tau_bar, const DynamicsOptions& options = {});

}  // namespace articula
