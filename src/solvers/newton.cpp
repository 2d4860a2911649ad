#include <algorithm>
#include <cmath>
#include <utility>

#include "mode_update.hpp"
#include "task.hpp"

namespace articula {

namespace {

// Velocities this small count as rest.
double motion_tolerance(const ContactProblem& problem, const double* lam) {
  return 10.0 * mode_tolerance(problem, lam);
}

// Directions that are known to `turned` only, where that leaves open which cell they are in: a few steps
// more, with the modes held. False if numbers overflow.
bool leave_edges(Task& task, double turned) {
  constexpr int most_steps = 4;
  constexpr double rounding = 1e-13;
  for (int step = 0; step < most_steps; ++step) {
    if (!near_edge(task.problem, task.guess, task.slides, std::max(turned, rounding))) break;
    const double before = turned;
    if (!task.work.system.soft_step(task.problem, task.guess, task.slides, task.lam, task.sigma, turned))
      return false;
    if (turned > 0.5 * before) break;  // what slides slowly has a direction of few digits
  }
  return true;
}

// Of modes and directions that nothing contradicts: solved anew from rounded directions, so that the result
// depends on problem and modes alone, then exactly.
bool finish(Task& task, bool rounded, double turned) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const bool curved = std::any_of(task.guess, task.guess + problem.size, [](RowMode mode) {
    return mode == RowMode::slide || mode == RowMode::yield;
  });
  if (curved && !rounded) {
    if (!leave_edges(task, turned)) return false;
    round_directions(problem, task.guess, task.slides);
    rounded =
        task.centre == nullptr && work.contacts_alone.turn(problem, work.system, task.guess, task.slides);
    for (int step = 0;; ++step) {
      if (step == 20 ||
          !work.system.soft_step(problem, task.guess, task.slides, task.lam, task.sigma, turned))
        return false;
      if (turned < rounded_apart) break;
    }
  }
  return work.system.harden(problem, task.guess, task.slides, rounded, task.lam, task.sigma);
}

// Whether some contact slides so slowly that the softness of its rows hides where to.
bool slower_than_softness(const Task& task, double softness) {
  const ContactProblem& problem = task.problem;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    if (task.work.motion[k] != KnownMotion::moves) continue;
    const Block& block = problem.blocks[k];
    double slip = 0.0, force = 0.0;
    for (int i = block.first + 1; i < block.first + block.dim; ++i) {
      slip = std::max(slip, std::abs(task.sigma[i]));
      force = std::max(force, std::abs(task.lam[i]));
    }
    if (slip < 30.0 * softness * problem.mobility(block) * force) return true;
  }
  return false;
}

}  // namespace

namespace {

bool is_at_bound(RowMode mode) {
  return is_yielding(mode) || mode == RowMode::slide || mode == RowMode::upper || mode == RowMode::lower;
}

void remember_soft(Task& task) {
  SoftSolution& soft = task.work.soft;
  soft.mode.assign(task.guess, task.guess + task.problem.size);
  soft.slides.assign(task.slides, task.slides + task.problem.blocks.size());
  soft.lam.assign(task.lam, task.lam + task.problem.size);
  soft.velocity.assign(task.sigma, task.sigma + task.problem.size);
}

// Contacts of the soft solution that slide; returns whether some of them was taken to yield.
bool find_moving(Task& task, double softness) {
  ContactSolver& work = task.work;
  const SoftSolution& soft = work.soft;
  const double still = soft_tolerances(task.problem, softness, soft.lam.data()).still;
  work.moves.assign(task.problem.blocks.size(), false);
  bool wrong = false;
  for (std::size_t k = 0; k < task.problem.blocks.size(); ++k) {
    const Block& block = task.problem.blocks[k];
    work.moves[k] = work.motion[k] == KnownMotion::moves;
    if (block.kind != BlockKind::contact || work.motion[k] != KnownMotion::unknown) continue;
    for (int i = block.first + 1; i < block.first + block.dim; ++i) {
      if (std::abs(soft.velocity[i]) <= still) continue;
      work.moves[k] = true;
      wrong = wrong || is_yielding(soft.mode[i]);
    }
  }
  return wrong;
}

// Newton's method on the soft laws: solve, change the modes that are contradicted and the directions that
// turn, until neither happens. An assignment that was left three times means a cycle: from then on only the
// worst contradiction is changed. Where contacts that yield turn out to slide, or to rest though they slid,
// the soft solution that says so is remembered, and the method goes on with what is known.
Outcome pivot_on(Task& task, double& softness) {
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  bool careful = false;
  constexpr int most_turning = 25;
  // By how much, of the velocities, equations may be missed; and up to where it is rather a matter of
  // friction at its bound than of biases that contradict each other.
  constexpr double borne = 0.3 * exact, barely = 1e-7;
  constexpr int most_released = 3;
  int released = 0;
  int fewest = 0, idle = 0;  // contradictions, and passes since they last became fewer
  int turning_passes = 0;    // with nothing but directions to be found
  const auto begin = [&] {
    work.system.begin(problem, task.centre, softness);
    work.seen.clear();
    fewest = problem.size + 1;
    idle = 0;
  };
  begin();
  bool rounded = false, decided = false;
  const bool alone = problem.law == FrictionLaw::cone && task.centre == nullptr;
  const auto settle_contacts = [&] {
    rounded = alone && work.contacts_alone.settle(problem, work.system, work.motion, task.guess, task.slides);
  };
  settle_contacts();
  Outcome outcome = Outcome::contradicted;
  for (int pass = 0; pass < task.most_pivots; ++pass) {
    double turned = 0.0;
    if (!work.system.soft_step(problem, task.guess, task.slides, task.lam, task.sigma, turned)) break;
    const std::uint64_t hash = hash_modes(task.guess, problem.size);
    const int contradictions =
        update_modes(problem, softness, task.lam, task.sigma, work.motion, careful, task.guess, task.slides);
    if (contradictions > 0) {
      if (task.hasty && contradictions > fewest + 2) break;
      idle = contradictions < fewest ? 0 : idle + 1;
      fewest = std::min(fewest, contradictions);
      if (idle > (careful ? 10 : 4)) break;
      const auto before = std::count(work.seen.begin(), work.seen.end(), hash);
      if (before >= (careful ? 6 : 3)) {
        if (careful) break;
        careful = true;
        idle = 0;
        work.seen.clear();
      }
      if (work.seen.size() < most_seen) work.seen.push_back(hash);
      rounded = false;
      if (!careful) settle_contacts();
      continue;
    }
    if (turned > (rounded ? rounded_apart : turning)) {
      rounded = false;
      if (++turning_passes > most_turning) break;
      continue;
    }
    if (!std::exchange(decided, true) && task.centre == nullptr &&
        hold_undecided(problem, softness, task.lam, task.sigma, work.motion, task.guess, task.slides) > 0) {
      rounded = false;
      continue;
    }
    const bool some_at_bound = std::any_of(task.guess, task.guess + problem.size, is_at_bound);
    if (some_at_bound) remember_soft(task);
    if (!finish(task, rounded, turned)) break;
    const double still = motion_tolerance(problem, task.lam);
    if (mark_motion(problem, task.sigma, still, task.guess, work.motion) == 0) {
      const double missed = work.system.equation_error() / problem.velocity_scale;
      if (missed <= borne || missed > barely || ++released > most_released ||
          !release_weakest(problem, task.lam, task.sigma, still, task.guess, task.slides, work.motion)) {
        outcome = Outcome::verified;
        break;
      }
    }
    work.soft.known = work.soft.known || some_at_bound;
    task.report.iterations += work.system.factorisations();
    if (softness > hardest && slower_than_softness(task, softness)) softness *= 1e-2;
    begin();
    settle_contacts();
  }
  task.report.iterations += work.system.factorisations();
  return outcome;
}

// From the soft solution that is remembered, along a path, to one in which contacts slide that move, and the
// others yield; until those that move are known.
bool let_move(Task& task, double softness) {
  constexpr int most_paths = 4;
  ContactSolver& work = task.work;
  work.soft.known = false;
  find_moving(task, softness);
  for (int paths = 0; paths < most_paths; ++paths) {
    std::copy(work.soft.mode.begin(), work.soft.mode.end(), task.guess);
    std::copy(work.soft.slides.begin(), work.soft.slides.end(), task.slides);
    const Continuation::Start start{
        .lam = work.soft.lam.data(), .softness = softness, .inside = 0.0, .moves = &work.moves};
    const bool found = work.continuation.solve(task.problem, work.system, start, task.guess, task.slides,
                                               task.lam, task.sigma);
    task.report.iterations += work.system.factorisations();
    if (!found) return false;
    remember_soft(task);
    if (!find_moving(task, softness)) return true;
  }
  return false;
}

}  // namespace

bool let_yield(Task& task, double softness) {
  ContactSolver& work = task.work;
  remember_soft(task);
  work.motion.assign(task.problem.blocks.size(), KnownMotion::unknown);
  // Where modes are contradicted a path has to lead to others.
  const int contradictions =
      update_modes(task.problem, softness, task.lam, task.sigma, work.motion, false, task.guess, task.slides);
  if (contradictions == 0) return true;
  return let_move(task, softness);
}

Outcome pivot(Task& task, double softness) {
  constexpr int most_paths = 3;
  ContactSolver& work = task.work;
  work.motion.assign(task.problem.blocks.size(),
                     task.near_solution ? KnownMotion::moves : KnownMotion::unknown);
  work.soft.known = false;
  for (int paths = 0;; ++paths) {
    const Outcome outcome = pivot_on(task, softness);
    const bool goes_on = outcome == Outcome::contradicted && work.soft.known && task.centre == nullptr;
    if (!goes_on || paths == most_paths || !let_move(task, softness)) return outcome;
  }
}

namespace {

// Redundant equalities move as the others let them: their biases give way. Returns by how much.
double grant_redundant(Task& task) {
  std::vector<double>& sigma = task.work.trial_sigma;
  sigma.assign(task.sigma, task.sigma + task.problem.size);
  double slack = 0.0;
  for (const Block& block : task.problem.blocks) {
    if (block.kind != BlockKind::equality) continue;
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (task.guess[i] != RowMode::free) continue;
      task.mode[i] = RowMode::free;
      slack = std::max(slack, std::abs(sigma[i]));
      sigma[i] = 0.0;
    }
  }
  return slack;
}

}  // namespace

void judge(Task& task, SolveStage stage, SolveStatus status) {
  task.report.stage = stage;
  task.report.slack = task.redundant > 0 ? grant_redundant(task) : 0.0;
  task.report.residual = contact_residual(task.problem, task.lam,
                                          task.redundant > 0 ? task.work.trial_sigma.data() : task.sigma);
  // Where loads are large, what velocities were computed to last may hide an error of rounding.
  if (task.redundant == 0 && task.report.residual > 0.1 * exact * task.problem.velocity_scale)
    task.report.residual = std::max(task.report.residual, contact_residual(task.problem, task.lam));
  task.report.relative_residual = task.report.residual / task.problem.velocity_scale;
  const bool granted = task.report.slack > exact * task.problem.velocity_scale;
  task.report.status = granted ? std::max(status, SolveStatus::infeasible_bias) : status;
}

namespace {

// Of a contact that yields, or was thought to slide, sigma_N and sigma_T are in equations that are nearly
// combinations of others: some 1e-12 of the velocities are left. By its motion it holds, and sigma = 0 says
// more. Unless that is all by which equations are missed as well: biases contradict each other by as much,
// which no impulse takes away.
void stand_still(Task& task) {
  constexpr double rounding = 1e-15, borne = 1e-10;  // borne: what forces then leave their cones by
  constexpr double as_much = 2.0;
  const ContactProblem& problem = task.problem;
  std::vector<RowMode>& mode = task.work.still_mode;
  mode.assign(task.mode, task.mode + problem.size);
  double motion = 0.0;
  bool creeps = false;
  for (int i = 0; i < problem.size; ++i) {
    if (task.guess[i] == RowMode::free) mode[i] = RowMode::free;  // carries nothing
    if (mode[i] != RowMode::hold) continue;
    motion = std::max(motion, std::abs(task.sigma[i]));
    creeps = creeps || task.guess[i] != RowMode::hold;
  }
  const double missed = as_much * task.work.system.equation_error();
  if (!creeps || motion <= std::max(rounding * problem.velocity_scale, missed)) return;
  std::vector<double>&lam = task.work.still, &sigma = task.work.still_sigma;
  lam.assign(task.lam, task.lam + problem.size);
  sigma.assign(task.sigma, task.sigma + problem.size);
  const double most = contact_residual(problem, lam.data(), sigma.data()) + borne * problem.velocity_scale;
  if (!task.work.system.stand_still(problem, mode.data(), task.slides, lam.data(), sigma.data()) ||
      !(contact_residual(problem, lam.data(), sigma.data()) <= most))
    return;
  std::copy(lam.begin(), lam.end(), task.lam);
  std::copy(sigma.begin(), sigma.end(), task.sigma);
}

// Impulses that are nothing but rounding, of a body that glides along a wall, are none: which rounding they
// are is up to the start.
void drop_rounding(Task& task) {
  constexpr double rounding = 1e-15;
  for (const Block& block : task.problem.blocks) {
    if (block.kind != BlockKind::contact && block.kind != BlockKind::unilateral) continue;
    double* lam = task.lam + block.first;  // friction is no more than mu lam_N
    if (task.problem.g(block.first, block.first) * std::abs(lam[0]) <= rounding * task.problem.velocity_scale)
      std::fill_n(lam, block.dim, 0.0);
  }
}

}  // namespace

bool conclude(Task& task, SolveStage stage) {
  const bool several = task.work.system.determinant_sign() < 0.0;
  modes_of_motion(task.problem, task.lam, task.sigma, motion_tolerance(task.problem, task.lam), task.mode);
  stand_still(task);
  drop_rounding(task);
  judge(task, stage, several ? SolveStatus::multiple : SolveStatus::solved);
  return task.report.relative_residual <= exact;
}

bool keep_start(Task& task) {
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  std::copy(work.start.begin(), work.start.end(), task.lam);
  contact_velocities(problem, task.lam, task.sigma);
  const double still = motion_tolerance(problem, task.lam);
  read_modes(problem, task.lam, task.sigma, still, task.guess, task.slides);
  modes_of_motion(problem, task.lam, task.sigma, still, task.mode);
  work.still_mode.assign(task.mode, task.mode + problem.size);
  for (int i = 0; i < problem.size; ++i) {
    const bool carries_nothing = task.guess[i] == RowMode::free;
    if (carries_nothing || work.still_mode[i] == RowMode::slide) work.still_mode[i] = task.guess[i];
  }
  work.system.begin(problem, nullptr);
  if (!work.system.stand_still(problem, work.still_mode.data(), task.slides, task.lam, task.sigma))
    return false;
  judge(task, SolveStage::guess, SolveStatus::multiple);
  return task.report.relative_residual <= exact;
}

void remember(const Task& task, Settled& settled) {
  const int n = task.problem.size;
  settled.report = task.report;
  settled.slides.assign(task.slides, task.slides + task.problem.blocks.size());
  settled.guess.assign(task.guess, task.guess + n);
  settled.mode.assign(task.mode, task.mode + n);
  settled.lam.assign(task.lam, task.lam + n);
  settled.sigma.assign(task.sigma, task.sigma + n);
}

void recall(const Settled& settled, Task& task) {
  task.report = settled.report;
  std::copy(settled.slides.begin(), settled.slides.end(), task.slides);
  std::copy(settled.guess.begin(), settled.guess.end(), task.guess);
  std::copy(settled.mode.begin(), settled.mode.end(), task.mode);
  std::copy(settled.lam.begin(), settled.lam.end(), task.lam);
  std::copy(settled.sigma.begin(), settled.sigma.end(), task.sigma);
}

namespace {

// Whether the modes and directions at hand are those of the laws at this softness, too: nothing turns, and
// nothing is contradicted.
bool holds_at(Task& task, double softness) {
  constexpr int most_steps = 6;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.system.begin(problem, nullptr, softness);
  double turned = 1.0;
  for (int step = 0; step < most_steps && turned > turning; ++step) {
    if (!work.system.soft_step(problem, task.guess, task.slides, task.lam, task.sigma, turned)) return false;
  }
  if (turned > turning) return false;
  const bool changed =
      update_modes(problem, softness, task.lam, task.sigma, work.motion, false, task.guess, task.slides) > 0;
  return !changed && finish(task, false, turned) &&
         mark_motion(problem, task.sigma, motion_tolerance(problem, task.lam), task.guess, work.motion) == 0;
}

// A solution that was found with harder rows than usual: the same modes may be those of softer ones. Which of
// the two a start comes upon is chance, and the last digits of the impulses differ: the softest counts.
void soften(Task& task, SolveStage stage) {
  const double found = task.work.system.softness();
  Settled& settled = task.work.settled;
  for (double softness : softnesses) {
    if (softness <= found) return;
    remember(task, settled);
    if (holds_at(task, softness) && conclude(task, stage)) return;
    recall(settled, task);
  }
}

}  // namespace

Outcome settle(Task& task, double softness, SolveStage stage) {
  const Outcome outcome = pivot(task, softness);
  if (outcome != Outcome::verified || !conclude(task, stage)) return outcome;
  if (task.centre == nullptr) soften(task, stage);
  return Outcome::solved;
}

bool settle_ever_harder(Task& task, SolveStage stage) {
  for (double softness : softnesses) {
    const Outcome outcome = settle(task, softness, stage);
    if (outcome != Outcome::verified) return outcome == Outcome::solved;
  }
  return false;
}

}  // namespace articula
