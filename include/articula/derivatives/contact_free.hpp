#pragma once
// Derivatives of the contact-free step, the first client of implicit.hpp. The unknown is the acceleration,
//     r(a) = rnea(q, v, a) + D (v + h a) - tau - springs(q) = 0,     dr/da = M + h D,
// and the result  v+ = v + h a,  q+ = q (+) h v+.
// Inputs z: q, v, tau (nv each, tangent), theta (its `timestep` entry is the step's dt, whatever the
// model's own). Outputs: q+, v+ (nv each).

#include "articula/derivatives/implicit.hpp"
#include "articula/dynamics/parameter_derivatives.hpp"
#include "articula/steppers/contact_free.hpp"

namespace articula {

class ContactFreeDerivatives final : public ImplicitStep {
 public:
  explicit ContactFreeDerivatives(const Model& model);

  // Ties the derivatives to the last step taken with these; they must outlive this or the next call.
  void prepare(const Model& model, Data& data, const ContactFreeWork& step,
               const ContactFreeSettings& settings);

  // After prepare: dx+/dx (2nv x 2nv) and dx+/dtau (2nv x nv), with x = (q, v).
  void jacobians(MatrixRef by_state, MatrixRef by_tau);

  int unknowns() const override { return nv_; }
  int inputs() const override { return 3 * nv_ + ntheta_; }
  int outputs() const override { return 2 * nv_; }
  void solve(VectorRef r) override;
  void solve_transposed(VectorRef r) override { solve(r); }
  void residual_along(const ConstVectorRef& dz, VectorRef dr) override;
  void residual_against(const ConstVectorRef& y, VectorRef z_bar) override;
  void output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) override;
  void output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) override;

 private:
  void turn_rates();
  void gyroscopic_rate();

  int nv_ = 0, ntheta_ = 0;
  const Model* model_ = nullptr;
  Data* data_ = nullptr;
  const ContactFreeWork* step_ = nullptr;
  ContactFreeSettings settings_;
  DynamicsOptions options_;

  RneaDerivativeWork rnea_;
  ParameterWork parameters_;
  bool parameters_ready_ = false;
  RowMatrix blocks_;  // nv x 3 width: a by q, v, tau
  int width_ = 0;
  std::vector<int> turning_;                 // first dof of each turning block
  std::vector<Mat3> turn_by_q_, turn_by_v_;  // of q (+) h v+ there
  VectorX step_rate_;                        // nv: dr/dh through the implicit gyroscopic term
  VectorX scratch_, scratch2_;               // nv
  std::vector<Force> gyroscopic_;            // nlink
};

}  // namespace articula
