#pragma once
// The classical fourth-order Runge-Kutta step on the manifold, as a reference for smooth motion.
// (Munthe-Kaas: stages live in the tangent space at q; a turning joint's rotation vector d moves by
//  d' = Jr^-1(d) w.)

#include "articula/steppers/step.hpp"

namespace articula {

struct RungeKuttaWork {
  explicit RungeKuttaWork(const Model& model);
  VectorX q, v, force;       // of the stage
  VectorX d, d_rate, d_sum;  // tangent: position of the stage, its rate, weighted sum
  VectorX acceleration, v_sum;
};

// tau (nv) is held over the step; damping and springs are the model's.
StepStatus runge_kutta_step(const Model& model, Data& data, RungeKuttaWork& work, double dt,
                            const ConstVectorRef& tau, State& state);

}  // namespace articula
