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

// What acts from outside during a step. Whatever is left empty is zero, or at rest as described.
struct Input {
  VectorX controls;                  // nu
  VectorX forces;                    // nv: at the joints, beside those of actuators, springs and the medium
  ExternalWrenches wrenches;         // 6 x nbody (rnea.hpp)
  std::vector<Pose> kinematic_pose;  // nkinematic: of the bodies the user moves, in the world
  Matrix6X kinematic_twist;          // 6 x nkinematic: velocity of the origin, then angular velocity; world
};

struct StepSettings {
  double dt = 0.002;                // s
  bool implicit_gyroscopic = true;  // gyroscopic.hpp; keeps fast spinning bodies from gaining energy
};

enum class StepStatus {
  ok,
  input_not_finite,   // the step was not taken; the state is as it was
  singular_mass,      // the mass matrix has no factor here; the state is as it was
  result_not_finite,  // numbers overflowed; the state is as it was
  servos_not_settled  // no choice of servos at their limits was found; the state is as it was
};

std::string_view to_string(StepStatus status);

}  // namespace articula
