#pragma once
// The semi-implicit step without contact:
//   v+ = v_free (free_motion.hpp),     q+ = q (+) h v+
// implicit in joint damping and the velocity gains of servos, and in the gyroscopic torque of freely turning
// bodies. Activations advance with their own dynamics (dynamics/activation.hpp).

#include "articula/steppers/free_motion.hpp"

namespace articula {

// Workspace beyond Data, and what the step's derivatives (derivatives/contact_free.hpp) need to know of
// it: they hold for the last step, as long as data and this are as the step left them.
struct ContactFreeWork {
  explicit ContactFreeWork(const Model& model);
  FreeMotionWork free;
  VectorX v_next, q_next, activation_next;
};

// Takes `state` one step on, in place.
StepStatus contact_free_step(const Model& model, Data& data, ContactFreeWork& work,
                             const StepSettings& settings, const Input& input, State& state);

}  // namespace articula
