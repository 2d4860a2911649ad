#include "certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/contact/overruled.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/force_switches.hpp"
#include "impulse_work.hpp"

namespace articula {

bool at_force_kink(const Model& model, const FreeMotionWork& free, double dt) {
  constexpr double at_end = 1e-12;
  return near_force_kink(model, free.forces,
                         {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt},
                         at_end);
}

ServoMargin servo_margin(const Model& model, const ForceWork& forces, double dt) {
  ServoMargin margin{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const auto keep = [&](double x, const Vector2& range, int side, double gain) {
    if (side == 0)
      margin.impulse = std::min(margin.impulse, dt * std::max(0.0, std::min(x - range[0], range[1] - x)));
    else if (gain > 0.0)
      margin.velocity = std::min(margin.velocity, std::abs(x - range[side > 0]) / gain);
  };
  for (const SaturableServo& servo : forces.saturable)
    keep(forces.end_force[servo.actuator], *model.description().actuators[servo.actuator].force_range,
         forces.saturation.actuator[servo.actuator], std::abs(servo.gain));
  for (size_t k = 0; k < forces.limited.size(); ++k) {
    const LimitedJoint& joint = forces.limited[k];
    if (forces.servo_gain[joint.dof] > 0.0)
      keep(forces.end_drive[joint.dof], *joint.range, forces.saturation.joint[k],
           forces.servo_gain[joint.dof]);
  }
  return margin;
}

namespace {

constexpr double solved = 1e-6;    // relative residual of laws that hold
constexpr double follows = 1e-9;   // inconsistency of rows that can follow
constexpr double granted = 1e-12;  // relative slack
constexpr double all_of_it = 1.0 - 1e-9;

}  // namespace

ImpulseDerivatives::Work::Impact ImpulseDerivatives::Work::impact_of(const Item& item, double e) {
  const ContactRows& rows = step->rows;
  if (!impacts_found) {
    impacts_found = true;
    before.resize(rows.size());
    freely.resize(rows.size());
    rows.velocities(step->free.v, before.data());
    rows.velocities(step->v_free, freely.data());
  }
  const int row = rows.row_of(item);
  const double bounce_speed =
      settings.bounce_speed < 0.0 ? 2.0 * settings.dt * norm(model->gravity()) : settings.bounce_speed;
  // What kinematic bodies add to both is in the bias:  s = b + e (J v + b), or b + gap.
  const double s = rows.quads()[item.quad].bias[item.lane];
  const double gap = item.bias == BiasMode::capped ? -settings.recovery_speed : item.phi / settings.dt;
  const double brought = item.bias == BiasMode::bounce ? (s - e * before[row]) / (1.0 + e) : s - gap;
  return {before[row] + brought + bounce_speed, item.phi / settings.dt + freely[row] + brought};
}

// How far the kinds of biases are from others: gaps from being capped, impacts from not bouncing.
double ImpulseDerivatives::Work::bias_margin() {
  const ContactRows& rows = step->rows;
  double margin = std::numeric_limits<double>::infinity();
  const auto keep = [&](double x) { margin = std::min(margin, std::abs(x)); };
  size_t next = 0;  // touches are in the order of items
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item);
    const bool touches = next < rates.touches().size() && rates.touches()[next].row == row;
    const ContactRates::Touch* touch = touches ? &rates.touches()[next++] : nullptr;
    if (item.kind == RowKind::equality) keep(item.room);
    if (item.kind == RowKind::equality || item.bias == BiasMode::none || rows.mode[row] == RowMode::free)
      continue;
    if (item.bias != BiasMode::bounce) keep(item.room);
    if (item.kind != RowKind::contact) continue;
    const double e =
        touch != nullptr
            ? touch->restitution
            : step->colliders.parameters(*model, step->contacts.list[item.index].pair).restitution;
    if (!(e > 0.0)) continue;
    const Impact impact = impact_of(item, e);
    if (item.bias == BiasMode::bounce || impact.meets < 0.0) keep(impact.fast);
    if (item.bias == BiasMode::bounce || impact.fast < 0.0) keep(impact.meets);
  }
  return margin;
}

// Whether gaps, as they open with q, can be met by rows that depend on each other. Where Y^T J = 0 the biases
// phi / h must obey Y^T s = 0, which q changes by  sum over gaps of Y_i J_i / h. A contact that is jammed by
// its own friction cannot follow.
double ImpulseDerivatives::Work::gap_inconsistency(int island) {
  const ContactRows& rows = step->rows;
  const Island& of = rows.islands()[island];
  std::fill(c.begin(), c.end(), 0.0);
  laws[island].null_covector(c.data() + of.row_begin);
  double largest = 0.0;
  for (const Item& item : rows.items()) {
    if (item.island != island) continue;
    const int row = rows.row_of(item);
    const bool gap = item.kind != RowKind::equality && item.bias == BiasMode::gap;
    for (int i = gap ? 1 : 0; i < item.rows && item.kind != RowKind::equality; ++i) c[row + i] = 0.0;
    for (int i = 0; i < item.rows; ++i) largest = std::max(largest, std::abs(c[row + i]));
  }
  if (largest == 0.0) return 0.0;
  scratch.setZero();
  rows.add_impulses(c.data(), scratch);
  solve_mass_matrix(*model, *data, scratch);
  rows.velocities(scratch, dlam.data());
  double moved = 0.0, scale = 0.0;
  const ContactProblem& problem = laws[island].problem();
  for (int i = 0; i < of.rows; ++i) {
    moved = std::max(moved, std::abs(dlam[of.row_begin + i]));
    scale = std::max(scale, problem.g(i, i));
  }
  return scale > 0.0 ? moved / (scale * largest) : 0.0;
}

void ImpulseDerivatives::certify(GradientCertificate& certificate) const {
  Work& w = *work_;
  const ContactRows& rows = w.step->rows;
  certificate.valid = true;
  certificate.relabelled = w.relabelled;
  certificate.modes = w.modes;
  certificate.unknowns = certificate.rank = 0;
  const ServoMargin servos = servo_margin(*w.model, w.step->free.forces, w.settings.dt);
  certificate.impulse_margin = servos.impulse;
  certificate.velocity_margin = std::min({w.bias_margin(), w.step->idle_velocity, servos.velocity});
  certificate.redundant = false;
  certificate.conditioning = 1.0;
  certificate.inconsistency = std::max(w.not_followed, w.cannot_follow);
  const bool chosen = w.may_choose() && (!w.choice.found || w.choice.failed);
  certificate.one_sided =
      w.rates.one_sided() || chosen || w.law_begins || at_force_kink(*w.model, w.step->free, w.settings.dt);
  hold_overruled(rows, w.modes, certificate.modes);
  for (const Item& item : rows.items()) {
    const Island& island = rows.islands()[item.island];
    const int row = rows.row_of(item);
    // Friction that an end of a range has taken over is no equation: it may be at its bound. Where it is not,
    // it could hold the joint alone, and does so as soon as the end moves away.
    const bool dry = item.kind == RowKind::dry_friction || item.kind == RowKind::tendon_friction;
    if (!w.relabelled && dry && w.modes[row] != rows.mode[row]) {
      certificate.one_sided |= std::abs(rows.lam[row]) < all_of_it * rows.block(item).bound;
      continue;
    }
    const Margin margin =
        block_margin(w.laws[item.island].problem(), rows.block(item), rows.lam.data() + island.row_begin,
                     rows.sigma.data() + island.row_begin, rows.mode.data() + island.row_begin);
    certificate.impulse_margin = std::min(certificate.impulse_margin, margin.impulse);
    certificate.velocity_margin = std::min(certificate.velocity_margin, margin.velocity);
  }
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    const LawSystem& law = w.laws[k];
    const int begin = rows.islands()[k].row_begin;
    certificate.unknowns += law.unknowns();
    certificate.rank += law.rank();
    certificate.redundant |= !law.regular() || !law.left_out().empty();
    certificate.conditioning = std::min(certificate.conditioning, law.conditioning());
    double inconsistency = law.inconsistency();
    if (law.regular())
      inconsistency = std::max(inconsistency, 0.0);
    else if (inconsistency < 0.0)
      inconsistency = w.gap_inconsistency(static_cast<int>(k));
    certificate.inconsistency = std::max(certificate.inconsistency, inconsistency);
    const double residual =
        contact_residual(law.problem(), rows.lam.data() + begin, rows.sigma.data() + begin);
    certificate.one_sided |=
        law.keeps_loads() || law.slack() > granted || residual > solved * law.problem().velocity_scale;
  }
  // A nearby step may find another of several solutions.
  certificate.one_sided |= certificate.inconsistency > follows || w.step->ambiguous;
  certificate.one_sided = certificate.one_sided || w.touches_idly() || w.ties_matter();
}

GradientCertificate ImpulseDerivatives::certificate() const {
  GradientCertificate certificate;
  certify(certificate);
  return certificate;
}

}  // namespace articula
