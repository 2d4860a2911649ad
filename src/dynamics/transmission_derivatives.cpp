// hinge, slide:  l = g q             m = g
// ball:          l = g . log R       m = g, or R^T g where it is given in the parent's axes
// free:          l = 0               m = (g_shift, g_turn), or with R^T g_turn
// tendon:        l = g l_tendon      m = g c
// A turn d of the child (R exp(d)) changes log R by Jr^-1 d and R^T g by R^T g x d.

#include "actuator_terms.hpp"
#include "articula/math/lie.hpp"

namespace articula {

namespace {

Vec3 turn_of(const TurningGear& gear, const double* changes) {
  return changes == nullptr ? Vec3() : load3(changes + gear.turning);
}

// The gear's turning part in the child's axes.
Vec3 axis_change(const TurningGear& gear, Vec3 turn, Vec3 dgear) {
  if (!gear.in_parent) return dgear;
  return transpose_times(gear.R, dgear) + cross(gear.axis, turn);
}

void add_to(double* to, Vec3 a) {
  for (int i = 0; i < 3; ++i) to[i] += a[i];
}

void axis_against(const TurningGear& gear, Vec3 axis_bar, double* turn_bar, double* gear_bar) {
  if (gear.in_parent) add_to(turn_bar, cross(axis_bar, gear.axis));
  if (gear_bar != nullptr) add_to(gear_bar, gear.in_parent ? gear.R * axis_bar : axis_bar);
}

void measure_turning_along(const Model& model, ForceDerivativeWork& work, const ForceArguments& at,
                           const ForceDirection& along, int i) {
  const int offset = model.structure().actuators[i].gear;
  const TurningGear gear = turning_gear(model, i, at.q);
  const double* dgear = along.theta == nullptr ? nullptr : along.theta + offset;
  const bool free = gear.shifting >= 0;
  const Vec3 dturning = dgear == nullptr ? Vec3() : load3(dgear + (free ? 3 : 0));
  const Vec3 turn = turn_of(gear, along.q);
  const Vec3 g = load3(gear.gear);
  work.length[i] = free ? 0.0 : dot(dturning, gear.turn) + dot(g, inverse_right_jacobian(gear.turn) * turn);
  work.velocity[i] = dot(axis_change(gear, turn, dturning), load3(at.v + gear.turning)) +
                     dot(gear.axis, turn_of(gear, along.v));
  if (!free) return;
  if (dgear != nullptr) work.velocity[i] += dot(load3(dgear), load3(at.v + gear.shifting));
  if (along.v != nullptr) {
    work.velocity[i] += dot(load3(model.theta().data() + offset), load3(along.v + gear.shifting));
  }
}

void measure_turning_against(const Model& model, const ForceDerivativeWork& work, const ForceArguments& at,
                             ForceGradient& to, int i) {
  const int offset = model.structure().actuators[i].gear;
  const TurningGear gear = turning_gear(model, i, at.q);
  const bool free = gear.shifting >= 0;
  double* gear_bar = to.theta == nullptr ? nullptr : to.theta + offset;
  double* turning_bar = gear_bar == nullptr ? nullptr : gear_bar + (free ? 3 : 0);
  const double l_bar = work.length[i], rate_bar = work.velocity[i];
  if (!free) {
    const Vec3 g = load3(gear.gear);
    add_to(to.q + gear.turning, transpose_times(inverse_right_jacobian(gear.turn), g) * l_bar);
    if (turning_bar != nullptr) add_to(turning_bar, gear.turn * l_bar);
  }
  axis_against(gear, load3(at.v + gear.turning) * rate_bar, to.q + gear.turning, turning_bar);
  add_to(to.v + gear.turning, gear.axis * rate_bar);
  if (!free) return;
  if (gear_bar != nullptr) add_to(gear_bar, load3(at.v + gear.shifting) * rate_bar);
  add_to(to.v + gear.shifting, load3(model.theta().data() + offset) * rate_bar);
}

// Which of the three kinds an actuator is of; frames are elsewhere.
enum class Pull { scalar, turning, tendon, frame };
Pull kind_of(const Model& model, int i) {
  const TransmissionType type = model.description().actuators[i].transmission;
  if (type == TransmissionType::frame) return Pull::frame;
  if (type == TransmissionType::tendon) return Pull::tendon;
  return on_scalar_joint(model, i) ? Pull::scalar : Pull::turning;
}

}  // namespace

void measure_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const ForceArguments& at, const ForceDirection& along) {
  const Structure& s = model.structure();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double g = model.theta()[actuator.gear];
    const double dg = along.theta == nullptr ? 0.0 : along.theta[actuator.gear];
    const Pull kind = kind_of(model, i);
    if (kind == Pull::scalar) {
      const JointIndex& joint = s.joints[actuator.target];
      work.length[i] = dg * at.q[joint.q] + (along.q == nullptr ? 0.0 : g * along.q[joint.dof]);
      work.velocity[i] = dg * at.v[joint.dof] + (along.v == nullptr ? 0.0 : g * along.v[joint.dof]);
    } else if (kind == Pull::tendon) {
      const int t = actuator.target;
      work.length[i] = dg * forces.tendon_length[t] + g * work.tendon_length[t];
      work.velocity[i] = dg * forces.tendon_velocity[t] + g * work.tendon_velocity[t];
    } else if (kind == Pull::turning) {
      measure_turning_along(model, work, at, along, i);
    }
  }
}

void measure_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const ForceArguments& at, ForceGradient& to) {
  const Structure& s = model.structure();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double g = model.theta()[actuator.gear], l_bar = work.length[i], rate_bar = work.velocity[i];
    const Pull kind = kind_of(model, i);
    double g_bar = 0.0;
    if (kind == Pull::scalar) {
      const JointIndex& joint = s.joints[actuator.target];
      to.q[joint.dof] += g * l_bar;
      to.v[joint.dof] += g * rate_bar;
      g_bar = at.q[joint.q] * l_bar + at.v[joint.dof] * rate_bar;
    } else if (kind == Pull::tendon) {
      const int t = actuator.target;
      work.tendon_length[t] += g * l_bar;
      work.tendon_velocity[t] += g * rate_bar;
      g_bar = forces.tendon_length[t] * l_bar + forces.tendon_velocity[t] * rate_bar;
    } else if (kind == Pull::turning) {
      measure_turning_against(model, work, at, to, i);
    }
    if (to.theta != nullptr && kind != Pull::frame) to.theta[actuator.gear] += g_bar;
  }
}

void transmit_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                    const ForceArguments& at, const ForceDirection& along, double* actuator_forces) {
  const Structure& s = model.structure();
  work.tendon_drive.setZero();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double* gear = model.theta().data() + actuator.gear;
    const double* dgear = along.theta == nullptr ? nullptr : along.theta + actuator.gear;
    const double f = forces.force[i], df = work.force[i];
    const double along_gear = gear[0] * df + (dgear == nullptr ? 0.0 : dgear[0] * f);
    const Pull kind = kind_of(model, i);
    if (kind == Pull::scalar) actuator_forces[s.joints[actuator.target].dof] += along_gear;
    if (kind == Pull::tendon) work.tendon_drive[actuator.target] += along_gear;
    if (kind != Pull::turning) continue;
    const TurningGear turning = turning_gear(model, i, at.q);
    const bool free = turning.shifting >= 0;
    const Vec3 dturning = dgear == nullptr ? Vec3() : load3(dgear + (free ? 3 : 0));
    add_to(actuator_forces + turning.turning,
           turning.axis * df + axis_change(turning, turn_of(turning, along.q), dturning) * f);
    if (!free) continue;
    add_to(actuator_forces + turning.shifting, load3(gear) * df);
    if (dgear != nullptr) add_to(actuator_forces + turning.shifting, load3(dgear) * f);
  }
}

void transmit_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                      const ForceArguments& at, const double* actuator_bar, ForceGradient& to) {
  const Structure& s = model.structure();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double* gear = model.theta().data() + actuator.gear;
    double* gear_bar = to.theta == nullptr ? nullptr : to.theta + actuator.gear;
    const double f = forces.force[i];
    const Pull kind = kind_of(model, i);
    if (kind == Pull::scalar || kind == Pull::tendon) {
      const double bar = kind == Pull::scalar ? actuator_bar[s.joints[actuator.target].dof]
                                              : work.tendon_drive[actuator.target];
      work.force[i] = gear[0] * bar;
      if (gear_bar != nullptr) gear_bar[0] += f * bar;
    } else if (kind == Pull::turning) {
      const TurningGear turning = turning_gear(model, i, at.q);
      const bool free = turning.shifting >= 0;
      const Vec3 turn_bar = load3(actuator_bar + turning.turning);
      work.force[i] = dot(turning.axis, turn_bar);
      axis_against(turning, turn_bar * f, to.q + turning.turning,
                   gear_bar == nullptr ? nullptr : gear_bar + (free ? 3 : 0));
      if (!free) continue;
      const Vec3 shift_bar = load3(actuator_bar + turning.shifting);
      work.force[i] += dot(load3(gear), shift_bar);
      if (gear_bar != nullptr) add_to(gear_bar, shift_bar * f);
    }
  }
}

}  // namespace articula
