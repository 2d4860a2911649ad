#pragma once
// The semi-implicit step without contact:
//   (M + h D) v+ = M v + h (tau - c + J^T f_external - springs),     q+ = q (+) h v+
// implicit in the damping D, and in the gyroscopic torque of freely turning bodies.

#include "articula/steppers/step.hpp"

namespace articula {

struct ContactFreeSettings {
  double dt = 0.002;                // s
  bool implicit_gyroscopic = true;  // gyroscopic.hpp; keeps fast spinning bodies from gaining energy
  const ExternalWrenches* external = nullptr;
};

// Workspace beyond Data, kept for the step's derivatives: the factor of M + h D stays in data.
struct ContactFreeWork {
  explicit ContactFreeWork(const Model& model);
  VectorX force;         // nv: unbalanced forces
  VectorX acceleration;  // nv: (v+ - v) / h
  VectorX h_damping;     // nv: h D
  VectorX q_next;        // nq
};

// Takes `state` one step on, in place. tau (nv): forces at the joints.
StepStatus contact_free_step(const Model& model, Data& data, ContactFreeWork& work,
                             const ContactFreeSettings& settings, const ConstVectorRef& tau, State& state);

}  // namespace articula
