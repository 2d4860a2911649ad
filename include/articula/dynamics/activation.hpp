#pragma once
// Activations: the state of actuators that do not follow their control at once.
//   integrator    w' = u
//   filter        w' = (u - w) / T,        one Euler step
//   filter_exact  the same over the step,  w+ = w + (u - w) (1 - exp(-h / T))
// with u clamped to control_range, then w+ clamped to activation_range. At and beyond the end of a range the
// derivative is that of the clamped side: zero.

#include "articula/model/model.hpp"

namespace articula {

struct ActivationStep {
  double next = 0.0;
  double by_activation = 0.0, by_control = 0.0, by_dt = 0.0;
  double unlimited = 0.0;  // next, before activation_range
};

// Of one actuator that has an activation; `control` as given, not yet clamped.
ActivationStep activation_step(const ActuatorDescription& actuator, double activation, double control,
                               double dt);

// All activations (na) a step of dt later, for controls u (nu).
void next_activations(const Model& model, const ConstVectorRef& activation, const ConstVectorRef& u,
                      double dt, VectorRef next);

// Along a direction: dnext (na) for changes of activation, control and step.
void next_activations_directional(const Model& model, const ConstVectorRef& activation,
                                  const ConstVectorRef& u, double dt, const ConstVectorRef& dactivation,
                                  const ConstVectorRef& du, double ddt, VectorRef dnext);

// Against a covector: adds to activation_bar (na), u_bar (nu) and returns the step's share.
double next_activations_adjoint(const Model& model, const ConstVectorRef& activation, const ConstVectorRef& u,
                                double dt, const ConstVectorRef& next_bar, VectorRef activation_bar,
                                VectorRef u_bar);

}  // namespace articula
