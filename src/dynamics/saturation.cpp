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

// visit(force, its rounding, range, side in effect, whether of an actuator, its number)
template <class Visit>
void for_each_saturable(const Model& model, const ForceWork& work, Visit visit) {
  for (const SaturableServo& servo : work.saturable) {
    const int i = servo.actuator;
    visit(work.end_force[i], servo.rounding, *model.description().actuators[i].force_range,
          work.saturation.actuator[i], true, i);
  }
  for (size_t k = 0; k < work.limited.size(); ++k) {
    const LimitedJoint& joint = work.limited[k];
    visit(work.end_drive[joint.dof], joint.rounding, *joint.range, work.saturation.joint[k], false,
          static_cast<int>(k));
  }
}

}  // namespace

void measure_end_forces(ForceWork& work, const ConstVectorRef& v, const ConstVectorRef& v_next) {
  constexpr double rounding = 1e-12;
  const auto at_end = [&](double force, double gain, int d, double& noise) {
    noise = rounding * (std::abs(force) + std::abs(gain) * (std::abs(v[d]) + std::abs(v_next[d])));
    return force - gain * (v_next[d] - v[d]);
  };
  for (SaturableServo& servo : work.saturable)
    work.end_force[servo.actuator] =
        at_end(work.raw_force[servo.actuator], servo.gain, servo.dof, servo.rounding);
  for (LimitedJoint& joint : work.limited) {
    const int d = joint.dof;
    work.end_drive[d] = at_end(work.before_limits[d], std::max(work.servo_gain[d], 0.0), d, joint.rounding);
  }
}

bool next_saturation(const Model& model, const ForceWork& work, bool only_first, Saturation& next) {
  bool changed = false;
  for_each_saturable(model, work,
                     [&](double x, double tie, const Vector2& range, int side, bool actuator, int index) {
                       if (changed && only_first) return;
                       const int other = settled_side(x, range, side, tie);
                       if (other == side) return;
                       if (!changed) next = work.saturation;
                       changed = true;
                       (actuator ? next.actuator : next.joint)[index] = static_cast<signed char>(other);
                     });
  return changed;
}

double saturation_error(const Model& model, const ForceWork& work) {
  double worst = 0.0;
  for_each_saturable(model, work, [&](double x, double, const Vector2& range, int side, bool, int) {
    const double excess = side == 0  ? std::max(range[0] - x, x - range[1])
                          : side > 0 ? range[1] - x
                                     : x - range[0];
    worst = std::max(worst, excess / std::max({std::abs(range[0]), std::abs(range[1]), 1e-300}));
  });
  return worst;
}

}  // namespace articula
