#include "articula/solvers/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "articula/solvers/gauss_seidel.hpp"
#include "mode_update.hpp"
#include "redundant.hpp"
#include "task.hpp"

namespace articula {

void ContactSolver::reserve(int rows, int block_count, int columns, int groups) {
  system.reserve(rows, block_count, columns, groups);
  contacts_alone.reserve(rows, block_count);
  continuation.reserve(rows);
  dantzig.reserve(rows);
  dilating.reserve(rows);
  lemke.reserve(rows);
  interior_point.reserve(rows, block_count, columns, groups);
  blocks.reserve(block_count);
  seen.reserve(most_seen);
  motion.reserve(block_count);
  moves.reserve(block_count);
  first.reserve(rows);
  still_mode.reserve(rows);
  first_slides.reserve(block_count);
  soft.mode.reserve(rows);
  soft.slides.reserve(block_count);
  soft.lam.reserve(rows);
  soft.velocity.reserve(rows);
  for (Settled* solution : {&settled, &found}) {
    solution->mode.reserve(rows);
    solution->guess.reserve(rows);
    solution->slides.reserve(block_count);
    solution->lam.reserve(rows);
    solution->sigma.reserve(rows);
  }
  for (std::vector<double>* vector :
       {&start, &trial, &trial_sigma, &between, &between_sigma, &still, &still_sigma, &approximate, &dilated,
        &kept, &best_so_far, &relaxed, &balance})
    vector->reserve(rows);
  compliant.reserve(static_cast<std::size_t>(rows) * rows);
}

namespace {

constexpr double least_mu = 1e-12;  // laws divide by mu; less than this makes no force that could be measured

// Three for every tangent, one for any other row.
int lemke_pairs(const ContactProblem& problem) {
  int count = problem.size;
  for (const Block& block : problem.blocks) {
    if (block.kind == BlockKind::contact) count += 2 * block.tangents();
  }
  return count;
}

// Where friction takes part in a contradiction nothing is proven: the modes found with slack may do without.
bool yield_if_jammed(Task& task) {
  ContactSolver& work = task.work;
  const auto yields = [&] {
    return find_contradiction(task) != Contradiction::none && yield_to_contradiction(task);
  };
  if (!yields()) return false;
  if (settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved) return true;
  std::copy(work.first.begin(), work.first.end(), task.guess);
  std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
  return yields();
}

// Modes, directions and impulses to start from.
void start(Task& task, bool warm) {
  const ContactProblem& problem = task.problem;
  task.warm = warm;
  if (warm)
    make_sense(problem, task.guess, task.slides, task.lam);
  else
    guess_modes(problem, task.guess, task.slides);
  task.redundant = free_redundant_equalities(problem, task.work.compliant, task.guess);
  if (warm) task.work.start.assign(task.lam, task.lam + problem.size);
}

}  // namespace

bool search(Task& task) {
  constexpr int small = 20;        // rows: Dantzig's pivots cost the fourth power
  constexpr int table_size = 270;  // of Lemke's table, whose pivots cost the third power
  constexpr int pile = 100;        // rows: many bodies, of which some always come, go or share loads
  constexpr int large = 48;  // rows: interior points cost the third power, with all rows in their matrix
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.first.assign(task.guess, task.guess + problem.size);
  work.first_slides.assign(task.slides, task.slides + problem.blocks.size());
  if (GroupFactor::serves(problem)) {
    if (search_pile(task)) return true;
    std::copy(work.first.begin(), work.first.end(), task.guess);
    std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
  }
  bool jammed = false;  // or friction makes it seem so
  for (double softness : softnesses) {
    task.hasty = task.warm;
    const Outcome outcome = settle(task, softness, SolveStage::pivoting);
    task.hasty = false;
    if (outcome == Outcome::solved) {
      if (std::equal(work.first.begin(), work.first.end(), task.guess)) task.report.stage = SolveStage::guess;
      return true;
    }
    const bool suspicious = may_contradict(task, softness);
    std::copy(work.first.begin(), work.first.end(), task.guess);
    if (suspicious && !std::exchange(jammed, true) && find_contradiction(task) == Contradiction::proven &&
        yield_to_contradiction(task))
      return true;
    if (outcome == Outcome::contradicted) break;
    if (suspicious) std::copy(work.first.begin(), work.first.end(), task.guess);
  }
  work.trial_sigma.assign(problem.size, 0.0);
  const bool fits_table = lemke_pairs(problem) <= table_size;
  const auto approach_from_start = [&] {
    work.trial = work.start;
    return approach_and_settle(task, SolveStage::pivoting);
  };
  // Straight paths end, and where they turn round Lemke's do not; on cones paths bend, and Newton's method in
  // shorter steps gets there sooner, or from where a path on pyramids or a few sweeps lead.
  const bool straight = problem.law == FrictionLaw::pyramid;
  if (GroupFactor::serves(problem)) {
    if (task.warm && (straight ? continue_from_start(task) : approach_from_start())) return true;
    if (follow_central_path(task)) return true;
    // Other searches take minutes to gain the last digits.
    if (contact_residual(problem, work.approximate.data()) < nearly_solved * problem.velocity_scale)
      return false;
  } else if (task.warm) {
    if (straight && continue_from_start(task)) return true;
    if (!(straight && fits_table) && approach_from_start()) return true;
    if (!straight && (continue_on_pyramids(task) || sweep_from_start(task))) return true;
  }
  // From nothing a path ends at the limit of soft laws, too, where Lemke's ends at any corner.
  if (!task.warm && straight && !GroupFactor::serves(problem)) {
    work.start.assign(problem.size, 0.0);
    if (continue_from_start(task)) return true;
  }
  if (problem.size <= small && pivot_by_dantzig(task)) return true;
  std::array<RowMode, table_size> started;  // Lemke's method guesses anew
  if (fits_table) std::copy(work.first.begin(), work.first.end(), started.begin());
  if (fits_table && follow_lemke(task)) return true;
  if (fits_table) std::copy_n(started.begin(), problem.size, work.first.begin());
  if (jammed) {
    std::copy(work.first.begin(), work.first.end(), task.guess);
    std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
    if (yield_if_jammed(task)) return true;
  }
  work.approximate.assign(problem.size, 0.0);
  work.dilated.assign(problem.size, 0.0);
  double best = contact_residual(problem, work.approximate.data());
  const bool many = problem.size > pile;
  if (many && task.warm && settle_near_start(task)) return true;
  if (problem.size > large && dilate_or_sweep(task)) return true;
  if (jammed && is_jammed(task) && waive_biases(task)) return true;
  if (many && dilate_on(task)) return true;
  if (problem.size > large && sweep_on(task, 3000, best)) return true;
  const bool hopeless = task.contradicts || loads_are_endless(problem, work.trial.data());
  if (task.path_is_lost && hopeless && waive_biases(task)) return true;
  if (task.warm && straight && fits_table && approach_from_start()) return true;
  // Few, costly iterations that do not mind bad conditioning.
  work.trial.assign(problem.size, 0.0);
  const InteriorPoint::Settings attempts[] = {{}, {.most_iterations = 150, .start = 10.0, .patience = 0.3}};
  for (const InteriorPoint::Settings& settings : attempts) {
    task.report.iterations += work.interior_point.solve(problem, settings, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::iterating, {1e-6, 1e-8, 1e-4})) return true;
    if (accept(task, SolveStage::iterating)) return true;
  }
  if (problem.size <= large && dilate_or_sweep(task)) return true;
  if (!fits_table && follow_lemke(task)) return true;
  if (problem.bias != nullptr && grant_slack(task)) return true;
  for (double start : {1.0, 0.1, 10.0}) {
    task.report.iterations += work.interior_point.follow_path(problem, {.start = start}, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::path, {1e-6, 1e-5, 1e-4})) return true;
    if (accept(task, SolveStage::path) || settle_near(task, SolveStage::path)) return true;
    if (best < nearly_solved * problem.velocity_scale) break;  // another start would end here, too
  }
  // Where biases are not known a solution may exist, and was sought with patience.
  if (problem.bias == nullptr && best > nearly_solved * problem.velocity_scale && grant_slack(task))
    return true;
  if (refine(task, best) || sweep_on(task, 50000, best)) return true;
  work.trial = work.dilated;
  keep_best(task, best, work.approximate);
  if (problem.bias == nullptr) return false;
  work.best_so_far = work.approximate;  // what is searched for now is the solution of another problem
  // Impulses that nearly obey the laws tell of no contradiction, unless their loads are without end.
  const bool nearly =
      best < nearly_solved * problem.velocity_scale && !loads_are_endless(problem, work.approximate.data());
  const bool waived = waive_biases(task);
  work.approximate = work.best_so_far;
  return waived && !(nearly && task.report.status == SolveStatus::infeasible_bias);
}

namespace {

// Slack in place of a solution that recovers wildly, if biases contradict each other in all but rounding.
bool tame(Task& task) {
  task.work.first.assign(task.guess, task.guess + task.problem.size);
  if (find_contradiction(task) != Contradiction::none && yield_to_contradiction(task)) return true;
  for (double softness : softnesses) {
    std::copy(task.work.first.begin(), task.work.first.end(), task.guess);
    if (settle(task, softness, SolveStage::pivoting) == Outcome::solved) return true;
  }
  return false;
}

// The best impulses that were found, where they do not obey the laws as they should.
void give_up(Task& task) {
  const ContactProblem& problem = task.problem;
  std::copy(task.work.approximate.begin(), task.work.approximate.end(), task.lam);
  contact_velocities(problem, task.lam, task.sigma);
  read_modes(problem, task.lam, task.sigma, 1e-9 * problem.velocity_scale, task.guess, task.slides);
  modes_of_motion(problem, task.lam, task.sigma, 1e-6 * problem.velocity_scale, task.mode);
  judge(task, SolveStage::failed, SolveStatus::inexact);
  if (task.report.relative_residual <= exact) task.report.status = SolveStatus::multiple;
}

void solve(Task& task, bool thorough) {
  if (search(task)) {
    if (!recovers_wildly(task)) {
      if (thorough) look_for_another(task);
      return;
    }
    task.work.best_so_far.assign(task.lam, task.lam + task.problem.size);
    if (tame(task) || waive_biases(task)) return;
    task.work.approximate = task.work.best_so_far;
  }
  give_up(task);
}

// Which slack makes biases agree is not determined where several do, nor whether there is a solution without
// it that another start leads to. Piles at rest live on what they start from.
bool slack_is_of_start(const Task& task) {
  return task.warm && task.granted && task.report.status == SolveStatus::infeasible_bias &&
         !GroupFactor::serves(task.problem);
}

}  // namespace

SolveReport solve_contact(const ContactProblem& given, ContactSolver& work, bool warm, const Guess& guess,
                          RowMode* mode, double* lam, double* sigma, bool thorough) {
  const int most_pivots = 20 + 3 * static_cast<int>(given.blocks.size());
  Task task{given, work, guess.mode, guess.slides, mode, lam, sigma, {}, most_pivots};
  if (given.size == 0) return task.report;
  work.system.forget();
  work.interior_point.forget();
  if (!std::all_of(given.b, given.b + given.size, [](double b) { return std::isfinite(b); })) {
    std::fill(guess.mode, guess.mode + given.size, RowMode::free);
    std::fill(mode, mode + given.size, RowMode::free);
    std::fill(lam, lam + given.size, 0.0);
    std::fill(sigma, sigma + given.size, 0.0);
    const double lost = std::numeric_limits<double>::max();
    return {.status = SolveStatus::inexact,
            .stage = SolveStage::failed,
            .residual = lost,
            .relative_residual = lost};
  }
  for (const Block& block : given.blocks) {
    if (block.kind != BlockKind::contact || block.dim == 1) continue;
    if (*std::min_element(block.mu, block.mu + block.tangents()) >= least_mu) continue;
    work.blocks.assign(given.blocks.begin(), given.blocks.end());
    for (Block& copy : work.blocks) {
      for (double& mu : copy.mu) mu = std::max(mu, least_mu);
    }
    task.problem.blocks = work.blocks;
    break;
  }
  start(task, warm);
  solve(task, thorough);
  if (!slack_is_of_start(task)) return task.report;
  Task again{task.problem, work, guess.mode, guess.slides, mode, lam, sigma, {}, most_pivots};
  start(again, false);
  solve(again, thorough);
  again.report.iterations += task.report.iterations;
  return again.report;
}

}  // namespace articula
