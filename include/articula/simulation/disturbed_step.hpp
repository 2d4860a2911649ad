#pragma once
// A step with anything that goes into it disturbed: what differences, and checks of derivatives, evaluate.
// Every evaluation starts cold, so that all of them solve alike; or, where that is wanted, from the modes of
// the undisturbed step, which changes how fast steps are solved and not which solution they have.

#include "articula/simulation/simulation.hpp"

namespace articula {

class DisturbedStep {
 public:
  DisturbedStep(const Model& model, const SimulationSettings& settings);
  DisturbedStep(const DisturbedStep&) = delete;
  DisturbedStep& operator=(const DisturbedStep&) = delete;

  // What is disturbed; the base of the tangent space is where this step ends. False if it fails.
  bool begin(const State& start, const Input& input);
  // From now on with the modes of the undisturbed step, whatever the laws say.
  void hold_modes(bool held) { held_ = held; }
  void start_warm(bool warm) { warm_ = warm; }
  const FrozenModes& modes() const { return modes_; }  // of the undisturbed step

  // x = (q+ (-) q+_0, v+, activation+) for inputs z + t dz (StepInputs); dt is the parameter `timestep`.
  // False if there is no such step: then x is not a number.
  bool at(const ConstVectorRef& dz, double t, VectorRef x);
  const StepInputs& layout() const { return layout_; }
  int outputs() const { return 2 * model_->nv() + model_->na(); }

  // Of the last evaluation.
  const Model& model() const { return variant_ ? *variant_ : *model_; }
  Data& data() { return data_; }
  const ImpulseWork* contact() const { return contact_ ? &*contact_ : nullptr; }
  const FreeMotionWork& motion() const { return contact_ ? contact_->free : free_->free; }
  const StepReport& report() const { return report_; }

  const State& end() const { return end_; }  // of the undisturbed step

 private:
  bool take(const Model& model, double dt, const Input& input, State& state, bool held);

  const Model* model_;
  std::optional<Model> variant_;  // with other numbers
  SimulationSettings settings_;
  StepInputs layout_;
  Data data_;
  std::optional<ImpulseWork> contact_;
  std::optional<ContactFreeWork> free_;
  FrozenModes modes_;
  WarmStart found_, guess_;  // by the undisturbed step; what an evaluation starts from
  bool held_ = false, warm_ = false,
       varied_ = false;  // varied: the workspace has the numbers of another model
  State start_, end_, state_;
  Input input_, changed_;
  StepReport report_;
};

}  // namespace articula
