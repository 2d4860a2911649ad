#pragma once
// The semi-implicit step without contact:
//   (M + h D) v+ = M v + h (tau - c + J^T f_external - springs),     q+ = q (+) h v+
// implicit in the damping D, and in the gyroscopic torque of freely turning bodies.

#include "articula/steppers/free_motion.hpp"

namespace articula {

struct ContactFreeSettings {
  double dt = 0.002;                // s
  bool implicit_gyroscopic = true;  // gyroscopic.hpp; keeps fast spinning bodies from gaining energy
  const ExternalWrenches* external = nullptr;
};

// Workspace beyond Data, and what the step's derivatives (derivatives/contact_free.hpp) need to know of
// it: they hold for the last step, as long as data and this are as the step left them.
struct ContactFreeWork {
  explicit ContactFreeWork(const Model& model);
  VectorX q, v;          // before the step
  VectorX acceleration;  // nv: (v+ - v) / h
  VectorX v_next, q_next;
  VectorX force;    // nv: unbalanced forces
  VectorX h_slope;  // nv: h D, the part of the forces taken at v+
};

// Takes `state` one step on, in place. tau (nv): forces at the joints.
StepStatus contact_free_step(const Model& model, Data& data, ContactFreeWork& work,
                             const ContactFreeSettings& settings, const ConstVectorRef& tau, State& state);

// The same with everything that acts: the forces of actuators, tendons, the medium and compensated weight
// (dynamics/forces.hpp), and activations that advance with their own dynamics (dynamics/activation.hpp).
struct FreeStepWork {
  explicit FreeStepWork(const Model& model);
  FreeMotionWork free;
  VectorX v_next, q_next, activation_next;
};
StepStatus contact_free_step(const Model& model, Data& data, FreeStepWork& work, const StepSettings& settings,
                             const Input& input, State& state);

}  // namespace articula
