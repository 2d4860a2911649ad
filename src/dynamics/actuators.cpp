#include <cmath>
#include <numbers>

#include "articula/dynamics/activation.hpp"
#include "clamp.hpp"
#include "force_terms.hpp"

namespace articula {

namespace {

double input_of(const ActuatorDescription& described, const ActuatorIndex& actuator, const double* activation,
                double control, double dt) {
  if (actuator.activation < 0) return clamp(control, described.control_range).value;
  const double now = activation[actuator.activation];
  return described.activation_early ? activation_step(described, now, control, dt).next : now;
}

// The force of all actuators of a tendon, and by how much it exceeds the tendon's range.
void scale_tendons(const Model& model, ForceWork& work) {
  const Description& d = model.description();
  work.tendon_sum.setZero();
  work.tendon_scale.setOnes();
  for (int i = 0; i < model.nu(); ++i) {
    if (d.actuators[i].transmission != TransmissionType::tendon) continue;
    work.tendon_sum[model.structure().actuators[i].target] += work.raw_force[i];
  }
  for (size_t t = 0; t < d.tendons.size(); ++t) {
    const double sum = work.tendon_sum[t], limited = clamp(sum, d.tendons[t].actuator_force_range).value;
    if (limited != sum && sum != 0.0) work.tendon_scale[t] = limited / sum;
  }
}

// The short way round: with the period P = 2 pi |g| of l, a <- a - P n where n = round((a - l) / P).
void leave_out_whole_turns(const Model& model, ForceWork& work) {
  const double* theta = model.theta().data();
  for (const TurningServo& servo : work.turning) {
    const int i = servo.actuator;
    const double period = 2.0 * std::numbers::pi * norm(load3(theta + servo.gear));
    work.turns[i] = period > 0.0 ? std::round((work.input[i] - work.length[i]) / period) : 0.0;
    work.input[i] -= period * work.turns[i];
    work.raw_force[i] -= total_gain(model, work, i) * period * work.turns[i];
  }
}

}  // namespace

// f = clamp(scale ((gain_0 + gain_1 l + gain_2 l') a + bias_0 + bias_1 l + bias_2 l'))
void evaluate_actuators(const Model& model, ForceWork& work, const double* activation, const double* u,
                        double dt, const Saturation* held) {
  const Structure& s = model.structure();
  const Description& d = model.description();
  for (int i = 0; i < s.nu; ++i) {
    const double *gain = model.theta().data() + s.actuators[i].gain,
                 *bias = model.theta().data() + s.actuators[i].bias;
    const double l = work.length[i], rate = work.velocity[i];
    work.input[i] = input_of(d.actuators[i], s.actuators[i], activation, u[i], dt);
    work.raw_force[i] =
        (gain[0] + gain[1] * l + gain[2] * rate) * work.input[i] + (bias[0] + bias[1] * l + bias[2] * rate);
  }
  leave_out_whole_turns(model, work);
  if (!s.tendons.empty()) scale_tendons(model, work);
  for (int i = 0; i < s.nu; ++i) {
    double f = work.raw_force[i];
    if (d.actuators[i].transmission == TransmissionType::tendon)
      f *= work.tendon_scale[s.actuators[i].target];
    work.end_force[i] = work.force[i] = f;
    work.saturation.actuator[i] = 0;
    const std::optional<Vector2>& range = d.actuators[i].force_range;
    if (!range) continue;
    const int side = held != nullptr && on_scalar_joint(model, i) ? held->actuator[i] : side_of(f, *range);
    work.saturation.actuator[i] = static_cast<signed char>(side);
    if (side != 0) work.force[i] = (*range)[side > 0];
  }
}

double total_gain(const Model& model, const ForceWork& work, int i) {
  const double* gain = model.theta().data() + model.structure().actuators[i].gain;
  return gain[0] + gain[1] * work.length[i] + gain[2] * work.velocity[i];
}

// As the description has it, so that a change of one parameter does not turn a servo into something else.
std::vector<TurningServo> find_turning_servos(const Model& model) {
  const Structure& s = model.structure();
  std::vector<TurningServo> servos;
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& a = model.description().actuators[i];
    const bool servo = a.gain[1] == 0.0 && a.gain[2] == 0.0 && a.gain[0] == -a.bias[1];
    if (!servo || a.transmission == TransmissionType::tendon) continue;
    if (a.transmission == TransmissionType::frame) {
      const bool shifts = a.gear[0] != 0.0 || a.gear[1] != 0.0 || a.gear[2] != 0.0;
      if (s.actuators[i].reference_frame >= 0 && !shifts) servos.push_back({i, s.actuators[i].gear + 3});
    } else if (s.joints[s.actuators[i].target].type == JointType::ball) {
      servos.push_back({i, s.actuators[i].gear});
    }
  }
  return servos;
}

std::vector<LimitedJoint> find_limited_joints(const Model& model) {
  const Structure& s = model.structure();
  std::vector<LimitedJoint> limited;
  for (const JointIndex& joint : s.joints) {
    const BodyDescription& body = model.description().bodies[joint.body - 1];
    const size_t nth = &joint - s.joints.data() - s.links[joint.link].joint_begin;
    const std::optional<Vector2>& range = body.joints[nth].actuator_force_range;
    if (range) limited.push_back({joint.dof, range});
  }
  return limited;
}

void limit_joint_forces(ForceWork& work, const Saturation* held) {
  work.unlimited.setOnes();
  work.before_limits = work.actuator;
  work.end_drive = work.actuator;
  for (size_t k = 0; k < work.limited.size(); ++k) {
    const LimitedJoint& joint = work.limited[k];
    const int side = held != nullptr ? held->joint[k] : side_of(work.actuator[joint.dof], *joint.range);
    work.saturation.joint[k] = static_cast<signed char>(side);
    if (side == 0) continue;
    work.actuator[joint.dof] = (*joint.range)[side > 0];
    work.unlimited[joint.dof] = 0.0;
  }
}

// -df/dv of an actuator on a hinge or slide, where nothing limits it: -g^2 (gain_2 a + bias_2)
void evaluate_slope(const Model& model, ForceWork& work) {
  const Structure& s = model.structure();
  work.servo_gain.setZero();
  work.saturable.clear();
  for (int i = 0; i < s.nu; ++i) {
    if (!on_scalar_joint(model, i)) continue;
    const int d = s.joints[s.actuators[i].target].dof;
    const double* theta = model.theta().data();
    const double gear = theta[s.actuators[i].gear];
    const double kv = -(theta[s.actuators[i].gain + 2] * work.input[i] + theta[s.actuators[i].bias + 2]);
    if (kv > 0.0 && model.description().actuators[i].force_range) work.saturable.push_back({i, d, gear * kv});
    if (work.saturation.actuator[i] == 0) work.servo_gain[d] += gear * gear * kv;
  }
  work.slope_gain = work.servo_gain.cwiseProduct(work.unlimited);
  for (int d = 0; d < s.nv; ++d) {
    work.slope[d] = model.constants().damping[d] + work.slope_gain[d];
  }
}

}  // namespace articula
