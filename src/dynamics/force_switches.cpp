#include "articula/dynamics/force_switches.hpp"

#include <numbers>

#include "articula/dynamics/activation.hpp"
#include "clamp.hpp"
#include "fluid.hpp"
#include "force_terms.hpp"

namespace articula {

namespace {

using Kind = ForceSwitch::Kind;

ForceSwitch on_side(Kind kind, int index, int side, double x, const Vector2& range) {
  return {kind, index, side, std::min(std::abs(x - range[0]), std::abs(x - range[1]))};
}

// An end of a range belongs to the limited side, as in clamp.hpp.
ForceSwitch in_range(Kind kind, int index, double x, const Vector2& range) {
  return on_side(kind, index, side_of(x, range), x, range);
}

ForceSwitch sign_of(Kind kind, int index, double x) { return {kind, index, x > 0.0 ? 1 : -1, std::abs(x)}; }

// visit(switch), of all but drag
template <class Visit>
void for_each_kink(const Model& model, const ForceWork& forces, const ForceArguments& at,
                   const Visit& visit) {
  const Structure& s = model.structure();
  const Description& d = model.description();
  const auto range = [&](Kind kind, int index, double x, const std::optional<Vector2>& ends) {
    if (ends) visit(in_range(kind, index, x, *ends));
  };
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& a = d.actuators[i];
    const int w = s.actuators[i].activation;
    range(Kind::control_range, i, at.u[i], a.control_range);
    if (w >= 0) {
      range(Kind::activation_range, i, activation_step(a, at.activation[w], at.u[i], at.dt).unlimited,
            a.activation_range);
    }
    if (a.force_range)
      visit(
          on_side(Kind::force_range, i, forces.saturation.actuator[i], forces.end_force[i], *a.force_range));
  }
  for (const TurningServo& servo : forces.turning) {
    const int i = servo.actuator;
    const double half = std::numbers::pi * norm(load3(model.theta().data() + servo.gear));
    visit(ForceSwitch{Kind::servo_turn, i, static_cast<int>(forces.turns[i]),
                      std::max(0.0, half - std::abs(forces.input[i] - forces.length[i]))});
  }
  for (size_t t = 0; t < d.tendons.size(); ++t) {
    const int index = static_cast<int>(t);
    range(Kind::tendon_force_range, index, forces.tendon_sum[index], d.tendons[t].actuator_force_range);
    const RestLength rest = rest_length(model, index);
    if (rest.low < rest.high)
      visit(in_range(Kind::tendon_rest, index, forces.tendon_length[index], {rest.low, rest.high}));
  }
  for (size_t k = 0; k < forces.limited.size(); ++k) {
    const LimitedJoint& joint = forces.limited[k];
    visit(on_side(Kind::joint_force_range, joint.dof, forces.saturation.joint[k], forces.end_drive[joint.dof],
                  *joint.range));
  }
}

}  // namespace

void force_switches(const Model& model, const Data& data, const ForceWork& forces, const ForceArguments& at,
                    std::vector<ForceSwitch>& out) {
  out.clear();
  for_each_kink(model, forces, at, [&](const ForceSwitch& each) { out.push_back(each); });
  for (int b = 1; in_medium(model) && b < model.nbody(); ++b) {
    if (!has_drag(model, b)) continue;
    const BodyDrag drag = body_drag(model, data, b);
    for (int i = 0; i < 3; ++i) {
      out.push_back(sign_of(Kind::drag_direction, b, drag.w[i]));
      out.push_back(sign_of(Kind::drag_direction, b, drag.u[i]));
    }
  }
}

bool near_force_kink(const Model& model, const ForceWork& forces, const ForceArguments& at, double within) {
  bool near = false;
  for_each_kink(model, forces, at, [&](const ForceSwitch& each) { near |= each.margin <= within; });
  return near;
}

}  // namespace articula
