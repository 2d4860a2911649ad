#pragma once
// What every stepper takes and returns.

#include <string_view>

#include "articula/dynamics/rnea.hpp"

namespace articula {

struct State {
  VectorX q;           // nq: positions; quaternions w x y z
  VectorX v;           // nv: velocities
  VectorX activation;  // na
  double time = 0.0;   // s
};

State neutral_state(const Model& model);

enum class StepStatus {
  ok,
  input_not_finite,   // the step was not taken; the state is as it was
  singular_mass,      // the mass matrix has no factor here; the state is as it was
  result_not_finite,  // numbers overflowed; the state is as it was
};

std::string_view to_string(StepStatus status);

}  // namespace articula
