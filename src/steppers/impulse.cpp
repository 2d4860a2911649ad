#include "articula/steppers/impulse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "articula/collision/passing.hpp"
#include "articula/contact/overruled.hpp"
#include "articula/dynamics/activation.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/saturation.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/kinematics/motion.hpp"
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

// How hard laws must be to tell where contacts slide to, however slowly.
double softness_for(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  constexpr double hardest = 1e-11, clearly = 30.0;
  double softness = usual_softness;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact || block.dim == 1 || mode[block.first + 1] != RowMode::slide)
      continue;
    while (softness > hardest &&
           slides[k].speed < clearly * softness * problem.mobility(block) * slides[k].normal)
      softness *= 1e-2;
  }
  return softness;
}

bool solve_held(ModeSystem& system, const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                double softness, double* lam, double* sigma) {
  constexpr int most_steps = 30;
  constexpr double rough = 1e-6;
  system.begin(problem, nullptr, softness);
  for (int step = 0; step < most_steps; ++step) {
    double turned = 0.0;
    if (!system.soft_step(problem, mode, slides, lam, sigma, turned)) return false;
    if (turned < rough) return system.harden(problem, mode, slides, false, lam, sigma);
  }
  return false;
}

// What yields stands still: once it is known how loads are shared, sigma = 0 says more of it than its cone,
// as in a step whose modes are found.
void stand_still(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                 const SlideState* slides, double* lam, double* sigma) {
  constexpr double rounding = 1e-15;
  std::vector<RowMode> still(mode, mode + problem.size);
  double motion = 0.0;
  bool yields = false;
  for (int i = 0; i < problem.size; ++i) {
    const bool gives =
        mode[i] == RowMode::yield || mode[i] == RowMode::yield_upper || mode[i] == RowMode::yield_lower;
    yields = yields || gives;
    if (gives) still[i] = RowMode::hold;
    if (still[i] == RowMode::hold) motion = std::max(motion, std::abs(sigma[i]));
  }
  if (!yields || motion <= rounding * problem.velocity_scale) return;
  std::vector<double> new_lam(lam, lam + problem.size), new_sigma(sigma, sigma + problem.size);
  if (!system.stand_still(problem, still.data(), slides, new_lam.data(), new_sigma.data())) return;
  std::copy(new_lam.begin(), new_lam.end(), lam);
  std::copy(new_sigma.begin(), new_sigma.end(), sigma);
}

bool yields(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
}

bool something_creeps(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind == BlockKind::contact && block.dim > 1 && mode[block.first + 1] == RowMode::slide &&
        slides[k].speed < creeping_speed)
      return true;
  }
  return false;
}

// From the impulses and directions of the step whose modes these are, by hard laws if none yields.
bool solve_beside(ModeSystem& system, const ContactProblem& problem, const std::vector<RowMode>& mode,
                  SlideState* slides, const double* near, bool keeps_loads, double* lam, double* sigma) {
  const double softness = softness_for(problem, mode.data(), slides);
  std::copy(near, near + problem.size, lam);
  return something_creeps(problem, mode.data(), slides)
             ? system.solve_linearised(problem, mode.data(), slides, lam, sigma, softness, keeps_loads)
             : system.solve_beside(problem, mode.data(), slides, lam, sigma, softness, keeps_loads);
}

// What dependent rows cannot follow, with what yields held: of soft laws it would make loads of order 1 /
// eps, which turn what yields.
std::vector<double> missed_beside(ModeSystem& system, const ContactProblem& problem,
                                  std::vector<RowMode> still, std::vector<SlideState> slides,
                                  const double* near) {
  constexpr double rounding = 1e-12;  // of the velocities; soft laws would turn it into loads
  std::vector<double> lam(problem.size), sigma(problem.size), missed(problem.size, 0.0);
  std::replace_if(still.begin(), still.end(), yields, RowMode::hold);
  system.forget();
  if (solve_beside(system, problem, still, slides.data(), near, true, lam.data(), sigma.data()))
    system.missed(sigma.data(), missed);
  const auto counts = [&](double v) { return std::abs(v) > rounding * problem.velocity_scale; };
  if (std::none_of(missed.begin(), missed.end(), counts)) std::fill(missed.begin(), missed.end(), 0.0);
  return missed;
}

// By soft laws, which turn what slides very slowly unless they are soft about these impulses; and where they
// find nothing, where rows are missed (velocity: of the step), or something creeps, beside the step by hard
// ones.
bool solve_by_laws(ModeSystem& system, const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                   const double* near, const double* velocity, double* lam, double* sigma) {
  constexpr double rounding = 1e-12;  // of the velocities
  const std::vector<SlideState> before(slides, slides + problem.blocks.size());
  const auto again = [&] { std::copy(before.begin(), before.end(), slides); };
  const double granted = rounding * problem.velocity_scale;
  bool misses = false;
  for (int i = 0; i < problem.size; ++i)
    misses = misses || (mode[i] == RowMode::hold && std::abs(velocity[i]) > granted);
  const std::vector<RowMode> modes(mode, mode + problem.size);
  const bool may_be_hard = std::none_of(modes.begin(), modes.end(), yields);
  system.forget();
  if (may_be_hard && (misses || something_creeps(problem, mode, slides))) {
    if (solve_beside(system, problem, modes, slides, near, false, lam, sigma)) return true;
    again();
  }
  bool solved = solve_held(system, problem, mode, slides, softness_for(problem, mode, slides), lam, sigma);
  if (!solved) {
    again();
    solved = system.solve_near(problem, mode, slides, lam, sigma, near);
  }
  if (solved) {
    stand_still(system, problem, mode, slides, lam, sigma);
    return true;
  }
  again();
  return may_be_hard && solve_beside(system, problem, modes, slides, near, false, lam, sigma);
}

// The same where something yields, once dependent rows have missed what they cannot follow.
bool solve_held_island(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                       SlideState* slides, const double* near, const double* velocity, double* lam,
                       double* sigma) {
  if (std::none_of(mode, mode + problem.size, yields))
    return solve_by_laws(system, problem, mode, slides, near, velocity, lam, sigma);
  const std::vector<double> missed = missed_beside(system, problem, {mode, mode + problem.size},
                                                   {slides, slides + problem.blocks.size()}, near);
  std::vector<double> b(problem.b, problem.b + problem.size);
  for (int i = 0; i < problem.size; ++i) b[i] -= missed[i];
  ContactProblem followed = problem;
  followed.b = b.data();
  if (!solve_by_laws(system, followed, mode, slides, near, velocity, lam, sigma)) return false;
  for (int i = 0; i < problem.size; ++i) sigma[i] += missed[i];
  return true;
}

// What yields holds, and rows that hold are missed by the slack there was.
bool solve_keeping_loads(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                         SlideState* slides, const double* near, const double* slack, double* lam,
                         double* sigma) {
  std::vector<RowMode> still(mode, mode + problem.size);
  std::replace_if(still.begin(), still.end(), yields, RowMode::hold);
  std::vector<double> b(problem.b, problem.b + problem.size);
  for (int i = 0; i < problem.size; ++i) b[i] += still[i] == RowMode::hold ? slack[i] : 0.0;
  ContactProblem relaxed = problem;
  relaxed.b = b.data();
  system.forget();
  const bool solved = solve_beside(system, relaxed, still, slides, near, true, lam, sigma);
  for (int i = 0; i < problem.size; ++i) sigma[i] -= still[i] == RowMode::hold ? slack[i] : 0.0;
  return solved;
}

// Modes, directions and impulses that are held, row by row.
struct HeldRows {
  std::vector<RowMode> mode;
  std::vector<SlideState> slides;
  std::vector<double> near, slack;
  std::vector<bool> keeps_loads;  // per island
};

HeldRows read_held_rows(const ContactRows& rows, const FrozenModes& frozen) {
  const auto size = static_cast<std::size_t>(rows.size());
  HeldRows held{std::vector<RowMode>(size, RowMode::free), std::vector<SlideState>(rows.items().size()),
                std::vector<double>(size, 0.0), std::vector<double>(size, 0.0),
                std::vector<bool>(rows.islands().size(), false)};
  for (const Item& item : rows.items()) {
    const FrozenModes::Entry* found = frozen.find(item.key);
    if (found == nullptr || found->rows != item.rows) continue;
    const FrozenModes::Entry entry =
        item.kind == RowKind::contact ? FrozenModes::in_frame(*found, rows.frame(item)) : *found;
    for (int i = 0; i < item.rows; ++i) {
      held.mode[rows.row_of(item) + i] = entry.mode[i];
      held.near[rows.row_of(item) + i] = entry.lam[i];
      held.slack[rows.row_of(item) + i] = entry.slack[i];
    }
    held.slides[rows.islands()[item.island].block_begin + item.block] = entry.slide;
    if (entry.keeps_loads) held.keeps_loads[item.island] = true;
  }
  return held;
}

// Ends of ranges far away are rows of a step with held modes as well, and no measure of what is exact.
ContactProblem held_problem(const ContactRows& rows, const HeldRows& held, const Island& island,
                            double gravity_step) {
  ContactProblem problem = rows.problem(island, gravity_step);
  problem.velocity_scale = gravity_step;
  for (int i = 0; i < island.rows; ++i) {
    if (held.mode[island.row_begin + i] != RowMode::free)
      problem.velocity_scale = std::max(problem.velocity_scale, std::abs(problem.b[i]));
  }
  return problem;
}

// The equations of prescribed modes, and the smallest impulses where they leave a choice.
bool solve_frozen(ImpulseWork& work, const FrozenModes& frozen, double gravity_step) {
  ContactRows& rows = work.rows;
  HeldRows held = read_held_rows(rows, frozen);
  rows.mode = held.mode;
  bool solved = true;
  work.solver.system.let_pull(true);
  for (std::size_t k = 0; k < rows.islands().size(); ++k) {
    const Island& island = rows.islands()[k];
    const int at = island.row_begin;
    const ContactProblem problem = held_problem(rows, held, island, gravity_step);
    const RowMode* mode = held.mode.data() + at;
    SlideState* slides = held.slides.data() + island.block_begin;
    double *lam = rows.lam.data() + at, *sigma = rows.sigma.data() + at;
    ModeSystem& system = work.solver.system;
    solved &= held.keeps_loads[k] ? solve_keeping_loads(system, problem, mode, slides, held.near.data() + at,
                                                        held.slack.data() + at, lam, sigma)
                                  : solve_held_island(system, problem, mode, slides, held.near.data() + at,
                                                      held.slack.data() + at, lam, sigma);
  }
  work.solver.system.let_pull(false);
  return solved;
}

// Whether friction of this row's contact is at its bound: then its loads are felt in the motion.
bool at_bound(const Block& block, const RowMode* mode) {
  return block.kind == BlockKind::contact &&
         std::any_of(mode + block.first + 1, mode + block.first + block.dim,
                     [](RowMode m) { return m != RowMode::hold && m != RowMode::free; });
}

// Whether soft laws lead to another motion in these modes than the step has, or to other loads that matter.
bool leads_elsewhere(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                     std::vector<SlideState> slides, const double* near, const double* velocity,
                     double same) {
  std::vector<double> lam(problem.size, 0.0), sigma(problem.size, 0.0);
  if (!solve_by_laws(system, problem, mode, slides.data(), near, velocity, lam.data(), sigma.data()))
    return true;
  double largest = 0.0, off = 0.0, slipped = 0.0;
  for (const Block& block : problem.blocks) {
    const bool matters = at_bound(block, mode);
    for (int i = block.first; i < block.first + block.dim; ++i) {
      largest = std::max(largest, std::abs(near[i]));
      if (matters) off = std::max(off, std::abs(lam[i] - near[i]));
      if (mode[i] != RowMode::free) slipped = std::max(slipped, std::abs(sigma[i] - velocity[i]));
    }
  }
  return !(off <= same * largest && slipped <= same * problem.velocity_scale);
}

// Biases as gaps change when the robot moves a little: rows that depend on each other may not follow.
std::vector<double> biases_beside(const ContactProblem& problem, const RowMode* mode) {
  constexpr double little = 1e-6;
  std::vector<double> motion(problem.size, 0.0), b(problem.b, problem.b + problem.size);
  double turn = 0.5, largest = 0.0;
  for (int i = 0; i < problem.size; ++i) {
    turn = std::fmod(turn + 0.6180339887498949, 1.0);
    const double load = turn - 0.5;
    for (int j = 0; j < problem.size; ++j) motion[j] += problem.g(j, i) * load;
  }
  const auto is_gap = [&](const Block& block) {
    return block.kind == BlockKind::unilateral || block.kind == BlockKind::contact;
  };
  for (const Block& block : problem.blocks) {
    if (is_gap(block) && mode[block.first] != RowMode::free)
      largest = std::max(largest, std::abs(motion[block.first]));
  }
  for (const Block& block : problem.blocks) {
    if (is_gap(block) && largest > 0.0)
      b[block.first] += little * problem.velocity_scale / largest * motion[block.first];
  }
  return b;
}

bool keeps_loads(const ImpulseWork& work, const HeldRows& held, const Island& island) {
  constexpr double same = 1e-5, much = 1e-4, granted = 1e-12;
  const ContactRows& rows = work.rows;
  const int at = island.row_begin;
  ContactProblem problem = held_problem(rows, held, island, 0.0);
  const RowMode* mode = held.mode.data() + at;
  const bool yielding = std::any_of(mode, mode + problem.size, yields);
  double slack = 0.0;
  for (int i = 0; i < problem.size; ++i) {
    if (mode[i] == RowMode::hold) slack = std::max(slack, std::abs(rows.sigma[at + i]));
  }
  if (!yielding && !work.ambiguous && slack <= granted * problem.velocity_scale) return false;
  const auto first = held.slides.begin() + island.block_begin;
  const std::vector<SlideState> slides(first, first + static_cast<long>(problem.blocks.size()));
  const double *near = held.near.data() + at, *velocity = rows.sigma.data() + at;
  ModeSystem system;
  if (leads_elsewhere(system, problem, mode, slides, near, velocity, same)) return true;
  if (!yielding) return false;
  const std::vector<double> b = biases_beside(problem, mode);
  problem.b = b.data();
  return leads_elsewhere(system, problem, mode, slides, near, velocity, much);
}

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

}  // namespace

std::vector<bool> islands_that_keep_loads(const ImpulseWork& work) {
  const HeldRows held = read_held_rows(work.rows, freeze(work.rows, work.contacts));
  std::vector<bool> keep;
  for (const Island& island : work.rows.islands()) keep.push_back(keeps_loads(work, held, island));
  return keep;
}

FrozenModes freeze(const ImpulseWork& work) {
  const ContactRows& rows = work.rows;
  FrozenModes frozen = freeze(rows, work.contacts);
  frozen.saturation = work.free.forces.saturation;
  const std::vector<bool> keep = islands_that_keep_loads(work);
  for (std::size_t k = 0; k < rows.items().size(); ++k) {  // entries are in their order
    const Item& item = rows.items()[k];
    FrozenModes::Entry& entry = frozen.entries[k];
    entry.keeps_loads = keep[item.island];
    for (int i = 0; i < item.rows; ++i) entry.slack[i] = -rows.sigma[rows.row_of(item) + i];
  }
  return frozen;
}

namespace {

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
