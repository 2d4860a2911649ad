#include "articula/steppers/step.hpp"

namespace articula {

State neutral_state(const Model& model) {
  return {model.neutral_configuration(), VectorX::Zero(model.nv()), VectorX::Zero(model.na()), 0.0};
}

std::string_view to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok: return "ok";
    case StepStatus::input_not_finite: return "input not finite";
    case StepStatus::singular_mass: return "singular mass matrix";
    case StepStatus::result_not_finite: return "result not finite";
    case StepStatus::servos_not_settled: return "servos not settled";
  }
  return "unknown";
}

}  // namespace articula
