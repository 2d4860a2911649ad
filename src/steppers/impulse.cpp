#include "articula/steppers/impulse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "articula/collision/passing.hpp"
#include "articula/dynamics/activation.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/saturation.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/kinematics/motion.hpp"
#include "held_modes.hpp"
#include "servo_search.hpp"
#include "warm_start.hpp"

namespace articula {

namespace {

int contact_capacity(const collision::Colliders& colliders, int wanted) {
  if (wanted > 0) return wanted;
  const std::size_t n = colliders.list().size();
  constexpr std::size_t passing = 8;  // beside the contacts of pairs
  const std::size_t pairs =
      colliders.swept() ? 16 * n : collision::max_contact_points * colliders.pairs().size() + passing;
  return static_cast<int>(std::min(pairs, 64 + 16 * n));
}

// A bound on the speed of every point of a collider, from the links' velocities for `v`.
void add_speeds(const Model& model, Data& data, ImpulseWork& work, const VectorX& v) {
  propagate_motion(model, data, v.data(), nullptr);
  const auto& list = work.colliders.list();
  for (size_t i = 0; i < list.size(); ++i) {
    const collision::Collider& c = list[i];
    if (c.link == 0) continue;
    const Motion& motion = data.link_v[c.link];
    const Vec3 centre = data.link_r[c.link] + data.link_R[c.link] * c.centre;
    const double radius = std::isfinite(c.radius) ? c.radius : 0.0;
    work.speed[i] =
        std::max(work.speed[i], norm(point_velocity(motion, centre)) + radius * norm(motion.angular));
  }
}

}  // namespace

ImpulseWork::ImpulseWork(const Model& model, int most_contacts)
    : colliders(model),
      contacts(colliders, contact_capacity(colliders, most_contacts)),
      constraints(model),
      rows(model, constraints, contact_capacity(colliders, most_contacts)),
      free(model),
      v_free(model.nv()),
      v_coast(model.nv()),
      v_next(model.nv()),
      q_next(model.nq()),
      activation_next(model.na()),
      impulse(model.nv()),
      speed(colliders.list().size(), 0.0) {
  solver.reserve(rows.most_rows(), rows.most_blocks(), model.nv(),
                 static_cast<int>(constraints.trees.size()));
  again.entries.reserve(rows.most_blocks());
}

void ImpulseWork::set_numbers(const Model& variant) {
  colliders.set_numbers(variant);
  contacts.set_numbers(colliders);
  constraints.set_numbers(variant);
}

namespace {

void solve_islands(ImpulseWork& work, double gravity_step, bool warm, bool thorough, StepReport& report) {
  ContactRows& rows = work.rows;
  report.islands = static_cast<int>(rows.islands().size());
  report.guessed_islands = 0;
  report.residual = 0.0;
  report.contact = SolveStatus::solved;
  work.ambiguous = false;
  for (const Island& island : rows.islands()) {
    const ContactProblem problem = rows.problem(island, gravity_step);
    const SolveReport solved =
        solve_contact(problem, work.solver, warm,
                      {rows.guess.data() + island.row_begin, rows.guessed_slides.data() + island.block_begin},
                      rows.mode.data() + island.row_begin, rows.lam.data() + island.row_begin,
                      rows.sigma.data() + island.row_begin, thorough);
    report.guessed_islands += solved.stage == SolveStage::guess;
    report.residual = std::max(report.residual, solved.relative_residual);
    report.contact = std::max(report.contact, solved.status);
    work.ambiguous |= solved.status == SolveStatus::multiple && !solved.other_motion;
    report.iterations += solved.iterations;
  }
}

// v+ = v_coast + Mhat^-1 J^T lam
void apply_impulses(const Model& model, const Data& data, ImpulseWork& work) {
  work.impulse.setZero();
  work.rows.add_impulses(work.rows.lam.data(), work.impulse);
  solve_mass_matrix(model, data, work.impulse);
  work.v_next = work.v_coast + work.impulse;
}

// Whether some collider moves farther than detection looked.
bool outran(const Model& model, Data& data, ImpulseWork& work, double h) {
  std::fill(work.speed.begin(), work.speed.end(), 0.0);
  add_speeds(model, data, work, work.v_next);
  bool any = false;
  for (size_t i = 0; i < work.speed.size(); ++i) {
    if (h * work.speed[i] <= work.contacts.reach[i]) continue;
    work.contacts.reach[i] = 1.5 * h * work.speed[i];
    any = true;
  }
  return any;
}

constexpr int most_passes = 5;
// Of servos that change sides: all at once for a while, then one by one, then with the modes of rows.
constexpr int turns_together = 6, turns_alone = 40, most_turns = 42;
constexpr double everything = std::numeric_limits<double>::infinity();  // a speed at which nothing parts

StepReport take_step(const Model& model, Data& data, ImpulseWork& work, const ImpulseSettings& settings,
                     const Input& input, State& state, WarmStart& warm) {
  StepReport report;
  const double h = settings.dt, gravity_step = h * norm(model.gravity());
  const bool held = settings.frozen != nullptr && !settings.frozen->saturation.actuator.empty();
  report.status = free_velocity(model, data, work.free, {h, settings.implicit_gyroscopic}, state, input,
                                work.v_free, held ? &settings.frozen->saturation : nullptr);
  if (report.status != StepStatus::ok) return report;
  RowSettings row_settings{h, settings.law, settings.recovery_speed,
                           settings.bounce_speed < 0.0 ? 2.0 * gravity_step : settings.bounce_speed};
  row_settings.frozen = settings.frozen;

  std::fill(work.speed.begin(), work.speed.end(), 0.0);
  add_speeds(model, data, work, work.v_free);
  add_speeds(model, data, work, state.v);  // last: velocities for v are what rows read
  for (size_t i = 0; i < work.speed.size(); ++i)
    work.contacts.reach[i] = 1.2 * h * work.speed[i] + h * gravity_step;
  work.contacts.passing.clear();
  work.contacts.wanted.clear();
  if (settings.frozen != nullptr && settings.frozen->reach.size() == work.contacts.reach.size())
    work.contacts.reach = settings.frozen->reach;
  if (settings.frozen != nullptr) settings.frozen->call_contacts(work.colliders, work.contacts);
  const auto guesses = [&](const WarmStart& start) {
    return start.law == settings.law && !start.entries.empty();
  };
  bool cold = !settings.warm_start || !guesses(warm);
  bool faster = true, settled = true;
  std::optional<SolveStatus> together;  // of servos and rows, if they were solved so
  bool keep = false;                    // impulses of that
  for (int pass = 0, turns = 0; pass < most_passes;) {
    if (faster)
      report.overflow =
          detect(work.colliders, model, data, work.contacts) == collision::DetectStatus::overflow;
    work.rows.coast(model, data, work.constraints, row_settings, state.v, work.v_free, work.v_coast);
    work.rows.build(model, data, work.constraints, work.colliders, work.contacts, row_settings, state.q,
                    state.v, work.v_free, work.v_coast);
    if (settings.frozen != nullptr) {
      report.contact =
          solve_frozen(work, *settings.frozen, gravity_step) ? SolveStatus::solved : SolveStatus::inexact;
      apply_impulses(model, data, work);
      faster = work.v_next.allFinite() && outran(model, data, work, h);
      work.rows.move_idle(model, data, work.colliders, work.contacts, h, state.q, work.v_next);
      if (!faster) break;
      propagate_motion(model, data, state.v.data(), nullptr);
      ++pass;
      continue;
    }
    // What the pass before found is the best guess for a pass with more rows.
    const bool again = pass + turns > 0;
    const bool guess = (again ? guesses(work.again) : !cold) &&
                       read_warm_start(again ? work.again : warm, work.rows, gravity_step);
    cold = cold || (!again && !guess);
    if (std::exchange(keep, false) && guess)
      keep_impulses(work, gravity_step, report);
    else
      solve_islands(work, gravity_step, guess, cold && !together, report);
    apply_impulses(model, data, work);
    if (!work.v_next.allFinite()) break;
    // Without rows v+ is v_free: nothing is faster than expected, nor missing, but features may pass.
    const bool alone = work.rows.size() == 0 && work.rows.coasting().empty();
    faster = !alone && outran(model, data, work, h);
    if (!alone) work.rows.move_idle(model, data, work.colliders, work.contacts, h, state.q, work.v_next);
    work.idle_velocity = work.rows.least_idle_velocity();
    const bool missing = !alone && work.idle_velocity < 0.0;
    // Asked of a motion that all rows have a share in, not of one on the way to it: which rows there are
    // would depend on the way. Told of as long as another pass can heed it.
    if (!faster && !missing && pass + 1 < most_passes &&
        (!alone || may_pass(work.colliders, work.contacts))) {
      if (alone) propagate_motion(model, data, work.v_next.data(), nullptr);
      faster = find_passing(work.colliders, data, work.contacts, h, settings.recovery_speed);
    }
    // Servos are settled for v_free, unless other rows were there before.
    if (alone && !faster && turns == 0) break;
    const bool saturates = measure_end_forces(model, work.free.forces, state.v, work.v_next) &&
                           next_saturation(model, work.free.forces, state.v, work.v_next,
                                           turns >= turns_together, work.free.saturation);
    settled = !saturates || turns < most_turns;
    if (!settled || (!saturates && !faster && !missing)) break;
    write_warm_start(work.rows, settings.law, work.again);
    if (missing) work.rows.call_idle(row_settings);
    if (pass + 2 == most_passes) row_settings.parting_speed = row_settings.coasting_speed = everything;
    propagate_motion(model, data, state.v.data(), nullptr);
    ++(saturates ? turns : pass);
    if (!saturates) {
      turns = std::min(turns, turns_alone);  // other rows may ask for another search
      continue;
    }
    if (turns > turns_alone) {
      together = find_sides_together(model, data, work, row_settings, input, state, gravity_step, cold,
                                     report.iterations);
      keep = together.has_value() && turns == most_turns;
    }
    report.status = free_velocity_again(model, data, work.free, h, input, work.v_free, work.free.saturation);
    if (report.status != StepStatus::ok) return report;
  }
  if (!settled) {
    report.contact = SolveStatus::inexact;
    report.residual = std::max(report.residual, saturation_error(model, work.free.forces));
  }
  if (together) report.contact = std::max(report.contact, *together);
  report.rows = work.rows.size();
  report.contacts = static_cast<int>(work.contacts.list.size());
  for (const Item& item : work.rows.items()) {
    if (item.kind == RowKind::contact) report.deepest = std::max(report.deepest, -item.phi);
  }
  for (const IdleRow& row : work.rows.idle()) {
    if (row.kind == RowKind::contact) report.deepest = std::max(report.deepest, -row.phi);
  }

  integrate(model, state.q, work.v_next, h, work.q_next);
  next_activations(model, state.activation, work.free.control, h, work.activation_next);
  if (!work.v_next.allFinite() || !work.q_next.allFinite() || !work.activation_next.allFinite()) {
    report.status = StepStatus::result_not_finite;
    return report;
  }
  write_warm_start(work.rows, settings.law, warm);
  state.q = work.q_next;
  state.v = work.v_next;
  state.activation = work.activation_next;
  state.time += h;
  return report;
}

}  // namespace

// What was called for, before the step or within it, has a row in this step alone.
StepReport impulse_step(const Model& model, Data& data, ImpulseWork& work, const ImpulseSettings& settings,
                        const Input& input, State& state, WarmStart& warm) {
  const StepReport report = take_step(model, data, work, settings, input, state, warm);
  work.rows.begin();
  return report;
}

}  // namespace articula
