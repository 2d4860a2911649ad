#pragma once
// One impulse step, its derivatives, and the same step with anything that goes in disturbed, modes held.

#include <random>

#include "articula/derivatives/impulse.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing {

class DisturbedStep {
 public:
  // From the scene's state; the scene itself does not move.
  explicit DisturbedStep(Scene& scene);

  const StepInputs& layout() const { return derivatives_.layout(); }
  int outputs() const { return derivatives_.outputs(); }
  bool in_contact() const { return !frozen_.entries.empty(); }

  VectorX along(const VectorX& dz);
  VectorX against(const VectorX& x_bar);
  void jacobians(MatrixX& by_state, MatrixX& by_control);
  // Ridders' differences of the step with its modes held.
  VectorX difference_along(const VectorX& dz);
  GradientCertificate certificate() const { return derivatives_.certificate(); }

 private:
  VectorX disturbed(const VectorX& dz, double t);

  Scene& scene_;
  Data data_;
  ImpulseWork work_;
  State next_;
  ImpulseDerivatives derivatives_;
  FrozenModes frozen_;
};

// A direction with random numbers for every slice of a kind, each in proportion to its size.
VectorX parameter_direction(const Model& model, const StepInputs& layout, ParameterKind kind,
                            std::mt19937& random);

}  // namespace articula::testing
