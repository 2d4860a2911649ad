#include <numbers>

#include "actuator_terms.hpp"
#include "articula/dynamics/activation.hpp"
#include "clamp.hpp"

namespace articula {

InputRates input_rates(const Model& model, int i, const ForceArguments& at) {
  const ActuatorDescription& described = model.description().actuators[i];
  const int w = model.structure().actuators[i].activation;
  if (w < 0) return {0.0, clamp(at.u[i], described.control_range).slope, 0.0};
  if (!described.activation_early) return {1.0, 0.0, 0.0};
  const ActivationStep step = activation_step(described, at.activation[w], at.u[i], at.dt);
  return {step.by_activation, step.by_control, step.by_dt};
}

void inputs_along(const Model& model, ForceDerivativeWork& work, const ForceArguments& at,
                  const ForceDirection& along) {
  for (int i = 0; i < model.nu(); ++i) {
    const InputRates rates = input_rates(model, i, at);
    const int w = model.structure().actuators[i].activation;
    double change = rates.by_dt * along.dt;
    if (along.u != nullptr) change += rates.by_control * along.u[i];
    if (along.activation != nullptr && w >= 0) change += rates.by_activation * along.activation[w];
    work.input[i] = change;
  }
}

void inputs_against(const Model& model, const ForceDerivativeWork& work, const ForceArguments& at,
                    ForceGradient& to) {
  for (int i = 0; i < model.nu(); ++i) {
    const InputRates rates = input_rates(model, i, at);
    const int w = model.structure().actuators[i].activation;
    to.u[i] += rates.by_control * work.input[i];
    to.dt += rates.by_dt * work.input[i];
    if (w >= 0) to.activation[w] += rates.by_activation * work.input[i];
  }
}

namespace {

bool on_tendon(const Model& model, int i) {
  return model.description().actuators[i].transmission == TransmissionType::tendon;
}

// 1 where the actuator's force is within its range.
double free_slope(const ForceWork& forces, int i) { return forces.saturation.actuator[i] == 0 ? 1.0 : 0.0; }

// Whether the sum of a tendon's actuators is held by its range.
bool held(const ForceWork& forces, int tendon) { return forces.tendon_scale[tendon] != 1.0; }

// Calls visit(i, gear, rate) for servos that leave out n turns: their input has the part -2 pi |g| n, by
// which the raw force changes with the gear g by `rate`.
template <class Visit>
void for_each_turn(const Model& model, const ForceWork& forces, Visit visit) {
  for (const TurningServo& servo : forces.turning) {
    const double n = forces.turns[servo.actuator];
    if (n == 0.0) continue;
    const Vec3 g = load3(model.theta().data() + servo.gear);
    const double gain = total_gain(model, forces, servo.actuator);
    visit(servo.actuator, servo.gear, g * (-gain * 2.0 * std::numbers::pi * n / norm(g)));
  }
}

}  // namespace

// f = scale raw,  scale = (end of the range) / sum:   df = scale (draw - raw dsum / sum)
void limit_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work) {
  const Structure& s = model.structure();
  work.tendon_sum.setZero();
  for (int i = 0; i < s.nu; ++i) {
    if (on_tendon(model, i)) work.tendon_sum[s.actuators[i].target] += work.raw[i];
  }
  for (int i = 0; i < s.nu; ++i) {
    double change = work.raw[i];
    const int t = s.actuators[i].target;
    if (on_tendon(model, i) && held(forces, t)) {
      change =
          forces.tendon_scale[t] * (change - forces.raw_force[i] * work.tendon_sum[t] / forces.tendon_sum[t]);
    }
    work.force[i] = free_slope(forces, i) * change;
  }
}

// raw = (gain_0 + gain_1 l + gain_2 l') a + bias_0 + bias_1 l + bias_2 l'
void actuators_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const double* dtheta) {
  const Structure& s = model.structure();
  for (int i = 0; i < s.nu; ++i) {
    const double *gain = model.theta().data() + s.actuators[i].gain,
                 *bias = model.theta().data() + s.actuators[i].bias;
    const double l = forces.length[i], rate = forces.velocity[i], a = forces.input[i];
    double change = (gain[0] + gain[1] * l + gain[2] * rate) * work.input[i] +
                    (gain[1] * a + bias[1]) * work.length[i] + (gain[2] * a + bias[2]) * work.velocity[i];
    if (dtheta != nullptr) {
      const double *dgain = dtheta + s.actuators[i].gain, *dbias = dtheta + s.actuators[i].bias;
      change += (dgain[0] + dgain[1] * l + dgain[2] * rate) * a + dbias[0] + dbias[1] * l + dbias[2] * rate;
    }
    work.raw[i] = change;
  }
  for_each_turn(model, forces, [&](int i, int gear, Vec3 rate) {
    if (dtheta != nullptr) work.raw[i] += dot(rate, load3(dtheta + gear));
  });
  limit_along(model, forces, work);
}

void actuators_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                       double* theta_bar) {
  const Structure& s = model.structure();
  work.tendon_sum.setZero();
  for (int i = 0; i < s.nu; ++i) {
    work.raw[i] = free_slope(forces, i) * work.force[i];
    const int t = s.actuators[i].target;
    if (!on_tendon(model, i) || !held(forces, t)) continue;
    work.tendon_sum[t] -= forces.tendon_scale[t] * forces.raw_force[i] / forces.tendon_sum[t] * work.raw[i];
    work.raw[i] *= forces.tendon_scale[t];
  }
  for (int i = 0; i < s.nu; ++i) {
    if (on_tendon(model, i)) work.raw[i] += work.tendon_sum[s.actuators[i].target];
    const double *gain = model.theta().data() + s.actuators[i].gain,
                 *bias = model.theta().data() + s.actuators[i].bias;
    const double l = forces.length[i], rate = forces.velocity[i], a = forces.input[i], bar = work.raw[i];
    work.input[i] += (gain[0] + gain[1] * l + gain[2] * rate) * bar;
    work.length[i] += (gain[1] * a + bias[1]) * bar;
    work.velocity[i] += (gain[2] * a + bias[2]) * bar;
    if (theta_bar == nullptr) continue;
    double *gain_bar = theta_bar + s.actuators[i].gain, *bias_bar = theta_bar + s.actuators[i].bias;
    gain_bar[0] += a * bar, gain_bar[1] += l * a * bar, gain_bar[2] += rate * a * bar;
    bias_bar[0] += bar, bias_bar[1] += l * bar, bias_bar[2] += rate * bar;
  }
  for_each_turn(model, forces, [&](int i, int gear, Vec3 rate) {
    if (theta_bar == nullptr) return;
    for (int k = 0; k < 3; ++k) theta_bar[gear + k] += rate[k] * work.raw[i];
  });
}

namespace {

// Calls visit(i, d, gear, kv) for every actuator that has a share -gear^2 kv in slope_d.
template <class Visit>
void for_each_slope(const Model& model, const ForceWork& forces, Visit visit) {
  const Structure& s = model.structure();
  const double* theta = model.theta().data();
  for (int i = 0; i < s.nu; ++i) {
    if (!on_scalar_joint(model, i)) continue;
    const int d = s.joints[s.actuators[i].target].dof;
    const double free = free_slope(forces, i) * forces.unlimited[d];
    if (free == 0.0) continue;
    const double kv = theta[s.actuators[i].gain + 2] * forces.input[i] + theta[s.actuators[i].bias + 2];
    visit(i, d, theta[s.actuators[i].gear], kv);
  }
}

}  // namespace

void slope_along(const Model& model, const ForceWork& forces, const ForceDerivativeWork& work,
                 const double* dtheta, double* dslope) {
  const Structure& s = model.structure();
  for_each_slope(model, forces, [&](int i, int d, double gear, double kv) {
    const ActuatorIndex& actuator = s.actuators[i];
    double dkv = model.theta()[actuator.gain + 2] * work.input[i];
    if (dtheta != nullptr) {
      dkv += dtheta[actuator.gain + 2] * forces.input[i] + dtheta[actuator.bias + 2];
      dslope[d] -= 2.0 * gear * dtheta[actuator.gear] * kv;
    }
    dslope[d] -= gear * gear * dkv;
  });
}

void slope_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const double* slope_bar, double* theta_bar) {
  const Structure& s = model.structure();
  for_each_slope(model, forces, [&](int i, int d, double gear, double kv) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double kv_bar = -gear * gear * slope_bar[d];
    work.input[i] += model.theta()[actuator.gain + 2] * kv_bar;
    if (theta_bar == nullptr) return;
    theta_bar[actuator.gain + 2] += forces.input[i] * kv_bar;
    theta_bar[actuator.bias + 2] += kv_bar;
    theta_bar[actuator.gear] -= 2.0 * gear * kv * slope_bar[d];
  });
}

// f = clamp(raw),  tau_d = g f,  l = g q,  l' = g v,  slope_d = -g^2 (gain_2 a + bias_2)
void scalar_actuators_against(const Model& model, const ForceWork& forces, const ForceArguments& at,
                              const double* tau_bar, const double* slope_bar, ForceGradient& to) {
  const Structure& s = model.structure();
  const double* theta = model.theta().data();
  const ActuatorDescription* described = model.description().actuators.data();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const int d = s.joints[actuator.target].dof;
    const double free = free_slope(forces, i) * forces.unlimited[d];
    if (free == 0.0) continue;
    const double *gain = theta + actuator.gain, *bias = theta + actuator.bias;
    const double g = theta[actuator.gear], a = forces.input[i], raw_bar = free * g * tau_bar[d];
    to.q[d] += g * (gain[1] * a + bias[1]) * raw_bar;
    to.v[d] += g * (gain[2] * a + bias[2]) * raw_bar;
    const double input_bar = (gain[0] + gain[1] * forces.length[i] + gain[2] * forces.velocity[i]) * raw_bar -
                             g * g * gain[2] * slope_bar[d];
    if (actuator.activation < 0) {
      to.u[i] += clamp(at.u[i], described[i].control_range).slope * input_bar;
      continue;
    }
    const InputRates rates = input_rates(model, i, at);
    to.u[i] += rates.by_control * input_bar;
    to.dt += rates.by_dt * input_bar;
    to.activation[actuator.activation] += rates.by_activation * input_bar;
  }
}

}  // namespace articula
