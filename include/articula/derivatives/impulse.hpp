#pragma once
// Derivatives of the impulse step (steppers/impulse.hpp), in the sense of implicit.hpp. Unknowns w = (v+,
// lam):
//   r1 = h r_smooth(q, v, (v+ - v)/h, ...) - J(q)^T lam,        dr1/dv+ = Mhat,  dr1/dlam = -J^T
//   r2 = law(sigma, lam), by the modes of the step,             sigma = J(q) v+ + s(q, v)
// One factor of Mhat and one of the laws (the size of the active rows) serve all. Inputs z: StepInputs.
// Outputs: q+, v+ (tangent), activations.

#include <memory>

#include "articula/derivatives/implicit.hpp"
#include "articula/derivatives/smooth_residual.hpp"
#include "articula/model/parameters.hpp"
#include "articula/steppers/impulse.hpp"

namespace articula {

// What a gradient is worth: how far the step is from another assignment of modes, and where choices were
// made.
struct GradientCertificate {
  bool valid = true;             // false: the equations have no factor, and what was returned is zero
  std::vector<RowMode> modes;    // of all rows, in the order of the step's rows
  int unknowns = 0, rank = 0;    // impulses that no law fixes, and how many of them are determined
  double impulse_margin = 0.0;   // N s, over all rows; infinite if none applies
  double velocity_margin = 0.0;  // m/s, of modes and of biases (capped recovery, bounces)
  bool redundant = false;        // some rows carry what others could: impulses are not unique
  double conditioning = 1.0;     // smallest over largest pivot of the laws' factor
  double inconsistency = 0.0;    // of the last right-hand side with the active rows; large: one-sided
  bool one_sided = false;        // a derivative that does not exist was chosen from one side
  bool relabelled = false;       // complementarity_aware: modes are not those of the step
};

class ImpulseDerivatives final : public ImplicitStep {
 public:
  explicit ImpulseDerivatives(const Model& model);
  ~ImpulseDerivatives() override;

  // Ties the derivatives to the last step taken with these; they must outlive this or the next call. False if
  // the laws have no factor: then no derivative may be asked for.
  [[nodiscard]] bool prepare(const Model& model, Data& data, const ImpulseWork& step,
                             const ImpulseSettings& settings);

  // From now on modes other than those of the step (one for each row). False as for prepare.
  [[nodiscard]] bool relabel(const std::vector<RowMode>& modes);
  // Whether products against covectors include parameters; they do at first. If not, their part of what is
  // returned is left alone.
  void want_parameters(bool wanted);

  // Certificates from now on, until the next step, also tell whether the rows could follow a change of these
  // parameters: products against covectors have no direction to judge by. After want_parameters(true).
  void examine(const std::vector<ParameterSlice>& parameters);

  // With x = (q, v, w) of n = 2nv + na numbers: dx+/dx (n x n), dx+/du (n x nu) and dx+/dforces (n x nv);
  // the last two may have no columns: not wanted. If all have nv rows they are of v+ alone.
  void jacobians(MatrixRef by_state, MatrixRef by_control, MatrixRef by_force);
  void jacobians(MatrixRef by_state, MatrixRef by_control);
  void certify(GradientCertificate& certificate) const;
  GradientCertificate certificate() const;

  const StepInputs& layout() const;
  int unknowns() const override;
  int inputs() const override { return layout().size; }
  int outputs() const override;
  void solve(VectorRef r) override;
  void solve_transposed(VectorRef r) override;
  void residual_along(const ConstVectorRef& dz, VectorRef dr) override;
  void residual_against(const ConstVectorRef& y, VectorRef z_bar) override;
  void output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) override;
  void output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) override;
  void refine_against(const ConstVectorRef& x_bar, VectorRef z_bar) override;

 private:
  bool nearly_singular() const;
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace articula
