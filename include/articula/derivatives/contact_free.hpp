#pragma once
// Derivatives of the contact-free step, the first client of implicit.hpp. The unknown is the acceleration,
//     r(a) = 0 (smooth_residual.hpp),     dr/da = Mhat = M + h diag(slope),
// and the result  v+ = v + h a,  q+ = q (+) h v+,  w+ = activations.
// Inputs z: see StepInputs. Outputs: q+, v+ (nv each, tangent), w+ (na).

#include "articula/derivatives/implicit.hpp"
#include "articula/derivatives/step_output.hpp"
#include "articula/steppers/contact_free.hpp"

namespace articula {

class ContactFreeDerivatives final : public ImplicitStep {
 public:
  explicit ContactFreeDerivatives(const Model& model);

  // Ties the derivatives to the last step taken with these; they must outlive this or the next call.
  void prepare(const Model& model, Data& data, const ContactFreeWork& step, const StepSettings& settings);

  // After prepare, with x = (q, v, w) of n = 2nv + na numbers: dx+/dx (n x n), dx+/du (n x nu) and
  // dx+/dforces (n x nv); the last two may have no columns: not wanted. If all have nv rows they are of v+
  // alone.
  void jacobians(MatrixRef by_state, MatrixRef by_control, MatrixRef by_force);
  void jacobians(MatrixRef by_state, MatrixRef by_control);
  // Whether products against covectors include parameters; they do at first.
  void want_parameters(bool wanted) { wants_parameters_ = wanted; }

  const StepInputs& layout() const { return residual_.inputs(); }
  int unknowns() const override { return nv_; }
  int inputs() const override { return residual_.inputs().size; }
  int outputs() const override { return 2 * nv_ + na_; }
  void solve(VectorRef r) override;
  void solve_transposed(VectorRef r) override { solve(r); }
  void residual_along(const ConstVectorRef& dz, VectorRef dr) override { residual_.along(dz, dr); }
  void residual_against(const ConstVectorRef& y, VectorRef z_bar) override {
    residual_.against(y, z_bar, wants_parameters_);
  }
  void output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) override;
  void output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) override;

 private:
  int nv_ = 0, na_ = 0, nu_ = 0;
  bool wants_parameters_ = true;
  const Model* model_ = nullptr;
  Data* data_ = nullptr;
  const ContactFreeWork* step_ = nullptr;
  double h_ = 0.0;

  SmoothResidual residual_;
  StepOutput output_;
  RowMatrix blocks_;   // nv x (2 nv + na + nu, rounded up to whole registers): a by q, v, w, u
  RowMatrix inverse_;  // nv x nv
  VectorX scratch_;    // nv: dv+, or its covector
};

}  // namespace articula
