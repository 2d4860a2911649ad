#include "articula/dynamics/saturation.hpp"

#include <algorithm>
#include <cmath>

namespace articula {

namespace {

// The side on which a force should be that is on `side` now; within `tie` of an end it stays. What leaves an
// end is tried within first: with a large gain, little too much speed asks for the other end.
int settled_side(double x, const Vector2& range, int side, double tie) {
  if (side > 0) return x >= range[1] - tie ? side : 0;
  if (side < 0) return x <= range[0] + tie ? side : 0;
  return x < range[0] - tie ? -1 : x > range[1] + tie ? 1 : 0;
}

struct Limited {
  double now, end;  // the force at v, and at the end of the step
  double gain;      // by which it falls with the velocity of its dof
  int dof;
  const Vector2& range;
  int side;  // in effect
  bool of_actuator;
  int index;
};

// Actuators, then joints.
template <class Visit>
void for_each_saturable(const Model& model, const ForceWork& work, Visit visit) {
  for (const SaturableServo& servo : work.saturable) {
    const int i = servo.actuator;
    visit(Limited{work.raw_force[i], work.end_force[i], servo.gain, servo.dof,
                  *model.description().actuators[i].force_range, work.saturation.actuator[i], true, i});
  }
  for (size_t k = 0; k < work.limited.size(); ++k) {
    const LimitedJoint& joint = work.limited[k];
    visit(Limited{work.before_limits[joint.dof], work.end_drive[joint.dof], work.servo_gain[joint.dof],
                  joint.dof, *joint.range, work.saturation.joint[k], false, static_cast<int>(k)});
  }
}

}  // namespace

bool measure_end_forces(const Model& model, ForceWork& work, const ConstVectorRef& v,
                        const ConstVectorRef& v_next) {
  for (const SaturableServo& servo : work.saturable)
    work.end_force[servo.actuator] =
        work.raw_force[servo.actuator] - servo.gain * (v_next[servo.dof] - v[servo.dof]);
  for (const LimitedJoint& joint : work.limited) {
    const int d = joint.dof;
    work.end_drive[d] = work.before_limits[d] - std::max(work.servo_gain[d], 0.0) * (v_next[d] - v[d]);
  }
  bool contradicted = false;
  for_each_saturable(model, work, [&](const Limited& force) {
    contradicted |= settled_side(force.end, force.range, force.side, 0.0) != force.side;
  });
  return contradicted;
}

bool next_saturation(const Model& model, const ForceWork& work, const ConstVectorRef& v,
                     const ConstVectorRef& v_next, bool only_first, Saturation& next) {
  constexpr double rounding = 1e-12;
  bool changed = false;
  for_each_saturable(model, work, [&](const Limited& force) {
    if (changed && only_first) return;
    const double speeds = std::abs(v[force.dof]) + std::abs(v_next[force.dof]);
    const double tie = rounding * (std::abs(force.now) + std::abs(force.gain) * speeds);
    const int side = settled_side(force.end, force.range, force.side, tie);
    if (side == force.side) return;
    if (!changed) next = work.saturation;
    changed = true;
    (force.of_actuator ? next.actuator : next.joint)[force.index] = static_cast<signed char>(side);
  });
  return changed;
}

double saturation_error(const Model& model, const ForceWork& work) {
  double worst = 0.0;
  for_each_saturable(model, work, [&](const Limited& force) {
    const double low = force.range[0], high = force.range[1];
    const double excess = force.side == 0  ? std::max(low - force.end, force.end - high)
                          : force.side > 0 ? high - force.end
                                           : force.end - low;
    worst = std::max(worst, excess / std::max({std::abs(low), std::abs(high), 1e-300}));
  });
  return worst;
}

}  // namespace articula
