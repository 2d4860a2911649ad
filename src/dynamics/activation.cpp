#include "articula/dynamics/activation.hpp"

#include "articula/model/sizes.hpp"
#include "clamp.hpp"

namespace articula {

ActivationStep activation_step(const ActuatorDescription& actuator, double activation, double control,
                               double dt) {
  constexpr double shortest = 1e-15;  // MuJoCo's smallest number
  const double T = std::max(shortest, actuator.time_constant);
  const Clamped u = clamp(control, actuator.control_range);
  ActivationStep step;
  switch (actuator.activation) {
    case ActivationType::none: return step;
    case ActivationType::integrator: step = {activation + dt * u.value, 1.0, dt, u.value}; break;
    case ActivationType::filter: {
      const double rate = (u.value - activation) / T;
      step = {activation + dt * rate, 1.0 - dt / T, dt / T, rate};
      break;
    }
    case ActivationType::filter_exact: {
      const double left = std::exp(-dt / T), way = u.value - activation;
      step = {activation + way * (1.0 - left), left, 1.0 - left, way * left / T};
      break;
    }
  }
  step.by_control *= u.slope;
  const Clamped next = clamp(step.next, actuator.activation_range);
  return {next.value, step.by_activation * next.slope, step.by_control * next.slope, step.by_dt * next.slope,
          step.next};
}

namespace {

// Calls visit(control index, activation index, step) for every actuator with an activation.
template <class Visit>
void for_each_activation(const Model& model, const ConstVectorRef& activation, const ConstVectorRef& u,
                         double dt, Visit visit) {
  const Structure& s = model.structure();
  require_size("activation", activation.size(), s.na);
  require_size("u", u.size(), s.nu);
  for (int i = 0; i < s.nu; ++i) {
    const int w = s.actuators[i].activation;
    if (w >= 0) visit(i, w, activation_step(s.description->actuators[i], activation[w], u[i], dt));
  }
}

}  // namespace

void next_activations(const Model& model, const ConstVectorRef& activation, const ConstVectorRef& u,
                      double dt, VectorRef next) {
  require_size("next", next.size(), model.na());
  for_each_activation(model, activation, u, dt,
                      [&](int, int w, const ActivationStep& step) { next[w] = step.next; });
}

void next_activations_directional(const Model& model, const ConstVectorRef& activation,
                                  const ConstVectorRef& u, double dt, const ConstVectorRef& dactivation,
                                  const ConstVectorRef& du, double ddt, VectorRef dnext) {
  require_size("dactivation", dactivation.size(), model.na());
  require_size("du", du.size(), model.nu());
  require_size("dnext", dnext.size(), model.na());
  for_each_activation(model, activation, u, dt, [&](int i, int w, const ActivationStep& step) {
    dnext[w] = step.by_activation * dactivation[w] + step.by_control * du[i] + step.by_dt * ddt;
  });
}

double next_activations_adjoint(const Model& model, const ConstVectorRef& activation, const ConstVectorRef& u,
                                double dt, const ConstVectorRef& next_bar, VectorRef activation_bar,
                                VectorRef u_bar) {
  require_size("next_bar", next_bar.size(), model.na());
  require_size("activation_bar", activation_bar.size(), model.na());
  require_size("u_bar", u_bar.size(), model.nu());
  double dt_bar = 0.0;
  for_each_activation(model, activation, u, dt, [&](int i, int w, const ActivationStep& step) {
    activation_bar[w] += step.by_activation * next_bar[w];
    u_bar[i] += step.by_control * next_bar[w];
    dt_bar += step.by_dt * next_bar[w];
  });
  return dt_bar;
}

}  // namespace articula
