#pragma once
// The velocity after a step on which nothing but smooth forces act: where the contact-free step ends, and
// where contact begins.
//
//   (M + h diag(slope)) a = tau(q, v, w, u) + forces - c(q, v) + J^T wrenches,      v_free = v + h a
//
// tau are all applied forces (dynamics/forces.hpp) and slope is the part of -dtau/dv taken implicitly: joint
// damping, and the velocity gains of servos on hinges and slides. What couples joints (tendon dampers,
// servos on tendons, frames and balls, drag) is taken at v. Which servos are at a limit is decided by v_free
// (dynamics/saturation.hpp), and once more by v+ if contact changes it.

#include "articula/dynamics/forces.hpp"
#include "articula/steppers/step.hpp"

namespace articula {

// Workspace beyond Data, and what derivatives need to know of the last call.
struct FreeMotionWork {
  explicit FreeMotionWork(const Model& model);

  ForceWork forces;
  VectorX q, v, activation;   // before the step
  VectorX control;            // nu
  ExternalWrenches wrenches;  // 6 x nbody, if has_wrenches
  bool has_wrenches = false;
  VectorX bias;           // nv: c - J^T wrenches
  VectorX unbalanced;     // nv: right-hand side above
  VectorX h_slope;        // nv: h slope
  VectorX acceleration;   // nv: a
  Saturation saturation;  // what next_saturation wants

  const ExternalWrenches* external() const { return has_wrenches ? &wrenches : nullptr; }
};

// A quaternion without length is no rotation, and one whose square overflows cannot be normalised.
bool has_direction(const double* quaternion);
// Number of the first joint whose quaternion in q has no direction, or -1.
int joint_without_direction(const Model& model, const ConstVectorRef& q);

// Fills v_free (nv), and leaves in `data` the kinematics for (q, v) and in data.mass, data.factor the mass
// matrix and the factor of M + h diag(slope). Throws Error for a dt that is not positive, and for sizes.
// held: limits of servos hold as it says, and are not decided.
[[nodiscard]] StepStatus free_velocity(const Model& model, Data& data, FreeMotionWork& work,
                                       const StepSettings& settings, const State& state, const Input& input,
                                       VectorRef v_free, const Saturation* held = nullptr);

// The same once more at the same state, which data.link_v must be of, with servos limited as `held` says.
[[nodiscard]] StepStatus free_velocity_again(const Model& model, Data& data, FreeMotionWork& work, double h,
                                             const Input& input, VectorRef v_free, const Saturation& held);

}  // namespace articula
