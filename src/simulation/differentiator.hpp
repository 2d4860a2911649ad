#pragma once
// Derivatives of the last step of a workspace, in all modes; itself workspace of one thread.

#include "articula/derivatives/bounce_timing.hpp"
#include "articula/derivatives/contact_free.hpp"
#include "articula/simulation/disturbed_step.hpp"

namespace articula {

class StepDifferentiator {
 public:
  StepDifferentiator(const Model& model, const SimulationSettings& settings);

  // Of the last step of the workspace, which was taken from `start` with `input`. Modes that look at other
  // steps than this one take them with workspaces of their own.
  void jacobians(StepWorkspace& last, const State& start, const Input& input,
                 const GradientSettings& settings, StepJacobians& result);
  void pullback(StepWorkspace& last, const State& start, const Input& input, const StepCovector& covector,
                const GradientSettings& settings, StepGradient& result);
  // dx+ = (dx+/dz) dz, all of StepInputs; exact.
  void along(StepWorkspace& last, const ConstVectorRef& dz, VectorRef dx);

  Step again;  // room for steps that are taken once more

 private:
  bool prepare(StepWorkspace& last);
  void exact_jacobians(StepWorkspace& last, const GradientSettings& settings, StepJacobians& result);
  void exact_gradient(bool parameters);  // x_bar_ to z_bar_
  void complementarity_aware_gradient(StepWorkspace& last, const std::vector<ParameterSlice>& parameters,
                                      GradientCertificate& certificate);
  void certify(const StepWorkspace& last, GradientCertificate& certificate);
  void difference_jacobians(StepWorkspace& last, const State& start, const Input& input,
                            const GradientSettings& settings, StepJacobians& result);
  void difference_gradient(StepWorkspace& last, const State& start, const Input& input,
                           const GradientSettings& settings, GradientCertificate& certificate);
  std::optional<VectorX> difference_along(const ConstVectorRef& dz, const GradientSettings& settings,
                                          GradientCertificate& certificate);
  VectorX difference_by(const ParameterSlice& slice, int i, const VectorX& sizes,
                        const GradientSettings& settings, GradientCertificate& certificate);
  // visit(workspace): after a step near `start`, and its opposite, for every sample.
  template <class Visit>
  void for_each_sample(StepWorkspace& last, const State& start, const Input& input,
                       const GradientSettings& settings, const Visit& visit);
  void unpack(const Model& model, const GradientSettings& settings, StepGradient& result) const;
  DisturbedStep& disturbed(const Model& model);

  SimulationSettings settings_;
  StepInputs layout_;
  std::optional<ImpulseDerivatives> contact_;
  std::optional<ContactFreeDerivatives> free_;
  ImplicitStep& implicit() { return contact_ ? static_cast<ImplicitStep&>(*contact_) : *free_; }
  VectorX w_, x_bar_, z_bar_, z_other_;
  std::vector<RowMode> modes_;
  std::vector<double> sigma_bar_;
  std::unique_ptr<DisturbedStep> disturbed_;
  const Model* disturbed_model_ = nullptr;
  std::unique_ptr<StepWorkspace> sampled_;  // of randomised
};

}  // namespace articula
