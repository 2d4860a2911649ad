#include "articula/solvers/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "articula/solvers/gauss_seidel.hpp"
#include "mode_update.hpp"
#include "redundant.hpp"

namespace articula {

namespace {

constexpr std::size_t most_seen = 256;  // assignments remembered, to notice a cycle

}  // namespace

void ContactSolver::reserve(int rows, int block_count) {
  system.reserve(rows, block_count);
  dantzig.reserve(rows);
  dilating.reserve(rows);
  lemke.reserve(rows);
  interior_point.reserve(rows, block_count);
  blocks.reserve(block_count);
  seen.reserve(most_seen);
  moves.reserve(block_count);
  first.reserve(rows);
  for (std::vector<double>* vector :
       {&start, &trial, &trial_sigma, &between, &between_sigma, &approximate, &relaxed})
    vector->reserve(rows);
  compliant.reserve(static_cast<std::size_t>(rows) * rows);
}

namespace {

constexpr double hardest = 1e-11;   // softness
constexpr double exact = 1e-9;      // relative residual of what counts as solved
constexpr double rough = 1e-6;      // directions of forces, before they are solved exactly
constexpr double cell = 1e-4;       // to which they are rounded
constexpr double least_mu = 1e-12;  // laws divide by mu; less than this makes no force that could be measured

// Everything a solve carries along.
struct Task {
  ContactProblem problem;
  ContactSolver& work;
  RowMode* guess;
  SlideState* slides;  // per block
  RowMode* mode;
  double *lam, *sigma;
  SolveReport report;
  int most_pivots;
  bool warm = false;
  int redundant = 0;  // rows of equalities that repeat others
};

// Velocities this small count as rest.
double motion_tolerance(const ContactProblem& problem, const double* lam) {
  return 10.0 * mode_tolerance(problem, lam);
}

// What became of an assignment of modes: no assignment was found; one was, but not exactly; solved.
enum class Outcome { contradicted, verified, solved };

// Directions and compliances rounded so that Newton's method starts from the same place wherever they were
// found.
void round_directions(Task& task) {
  for (std::size_t k = 0; k < task.problem.blocks.size(); ++k) {
    const Block& block = task.problem.blocks[k];
    if (block.kind != BlockKind::contact || block.dim == 1) continue;
    SlideState& slide = task.slides[k];
    double squared = 0.0;
    for (double& d : slide.d) {
      d = std::round(d / cell) * cell;
      squared += d * d;
    }
    for (double& d : slide.d) d = squared > 0.0 ? d / std::sqrt(squared) : d;
    const double ratio = slide.speed / std::max(slide.normal, 1e-300);
    const double digits = std::pow(2.0, 6.0 - std::ceil(std::log2(std::max(ratio, 1e-300))));
    slide.speed = std::round(ratio * digits) / digits;
    slide.normal = 1.0;
  }
}

// Of modes and directions that nothing contradicts: solved anew from rounded directions, so that the result
// depends on problem and modes alone, then exactly.
bool finish(Task& task) {
  ContactSolver& work = task.work;
  const bool curved = std::any_of(task.guess, task.guess + task.problem.size, [](RowMode mode) {
    return mode == RowMode::slide || mode == RowMode::yield;
  });
  if (curved) {
    round_directions(task);
    for (int step = 0;; ++step) {
      double turned = 0.0;
      if (step == 20 ||
          !work.system.soft_step(task.problem, task.guess, task.slides, task.lam, task.sigma, turned))
        return false;
      if (turned < 10.0 * cell) break;
    }
  }
  return work.system.harden(task.problem, task.guess, task.slides, task.lam, task.sigma);
}

// Whether some contact slides so slowly that the softness of its rows hides where to.
bool slower_than_softness(const Task& task, double softness) {
  const ContactProblem& problem = task.problem;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    if (!task.work.moves[k]) continue;
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

// Newton's method on the soft laws: solve, change the modes that are contradicted and the directions that
// turn, until neither happens. An assignment that was left three times means a cycle: from then on only the
// worst contradiction is changed.
Outcome pivot(Task& task, double softness) {
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  work.seen.clear();
  work.moves.assign(problem.blocks.size(), false);
  work.system.begin(problem, nullptr, softness);
  bool careful = false;
  int fewest = problem.size + 1, idle = 0;  // contradictions, and passes since they last became fewer
  Outcome outcome = Outcome::contradicted;
  for (int pass = 0; pass < task.most_pivots; ++pass) {
    double turned = 0.0;
    if (!work.system.soft_step(problem, task.guess, task.slides, task.lam, task.sigma, turned)) break;
    const std::uint64_t hash = hash_modes(task.guess, problem.size);
    const int contradictions =
        update_modes(problem, softness, task.lam, task.sigma, work.moves, careful, task.guess, task.slides);
    if (contradictions > 0) {
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
      continue;
    }
    if (turned > rough) continue;
    if (!finish(task)) break;
    if (mark_moving(problem, task.sigma, motion_tolerance(problem, task.lam), task.guess, work.moves) == 0) {
      outcome = Outcome::verified;
      break;
    }
    if (softness > hardest && slower_than_softness(task, softness)) {
      task.report.iterations += work.system.factorisations();
      softness *= 1e-2;
      work.system.begin(problem, nullptr, softness);
      work.seen.clear();
      fewest = problem.size + 1;
      idle = 0;
    }
  }
  task.report.iterations += work.system.factorisations();
  return outcome;
}

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

void judge(Task& task, SolveStage stage, SolveStatus status) {
  task.report.stage = stage;
  task.report.slack = task.redundant > 0 ? grant_redundant(task) : 0.0;
  task.report.residual = contact_residual(task.problem, task.lam,
                                          task.redundant > 0 ? task.work.trial_sigma.data() : task.sigma);
  task.report.relative_residual = task.report.residual / task.problem.velocity_scale;
  const bool granted = task.report.slack > exact * task.problem.velocity_scale;
  task.report.status = granted ? std::max(status, SolveStatus::infeasible_bias) : status;
}

// The modes of the motion. False if the solution does not stand up to the residual.
bool conclude(Task& task, SolveStage stage) {
  modes_of_motion(task.problem, task.sigma, motion_tolerance(task.problem, task.lam), task.mode);
  judge(task, stage, task.work.system.determinant_sign() < 0.0 ? SolveStatus::multiple : SolveStatus::solved);
  return task.report.relative_residual <= exact;
}

// Where biases contradict each other a little (feet that roll), or G is nearly singular, rows must give way
// less.
constexpr double softnesses[] = {usual_softness, 1e-9, 1e-11};

Outcome settle(Task& task, double softness, SolveStage stage) {
  const Outcome outcome = pivot(task, softness);
  return outcome == Outcome::verified && conclude(task, stage) ? Outcome::solved : outcome;
}

// Modes of approximate impulses in work.trial, pivoted to a solution.
bool polish(Task& task, SolveStage stage, std::initializer_list<double> tolerances) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
  for (double softness : softnesses) {
    std::uint64_t last = 0;
    for (double tolerance : tolerances) {
      read_modes(problem, work.trial.data(), work.trial_sigma.data(), tolerance * problem.velocity_scale,
                 task.guess, task.slides);
      const std::uint64_t hash = hash_modes(task.guess, problem.size);
      if (std::exchange(last, hash) == hash) continue;
      if (settle(task, softness, stage) == Outcome::solved) return true;
    }
  }
  return false;
}

// Newton's method on the soft laws from work.trial, in steps that are cut short while the laws are broken
// worse at their end. Leaves modes and directions to pivot from, and impulses in work.trial.
void approach(Task& task) {
  constexpr int most_steps = 30;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const int n = problem.size;
  work.system.begin(problem, nullptr);
  const auto soften = [&](const double* lam, double* sigma) {
    for (const Block& block : problem.blocks) {
      const double give = usual_softness * problem.mobility(block);
      for (int i = block.first; i < block.first + block.dim; ++i) sigma[i] += give * lam[i];
    }
  };
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
  soften(work.trial.data(), work.trial_sigma.data());
  double broken = contact_residual(problem, work.trial.data(), work.trial_sigma.data());
  work.between.resize(n);
  work.between_sigma.resize(n);
  int idle = 0;  // steps that hardly helped
  for (int step = 0; step < most_steps && idle < 3 && broken > 1e-9 * problem.velocity_scale; ++step) {
    modes_at(problem, usual_softness, work.trial.data(), work.trial_sigma.data(), task.guess, task.slides);
    double turned = 0.0;
    if (!work.system.soft_step(problem, task.guess, task.slides, task.lam, task.sigma, turned)) break;
    double least = 1e300, best = 0.0;
    for (double length : {1.0, 0.7, 0.4, 0.2, 0.1, 0.03}) {
      for (int i = 0; i < n; ++i) {
        work.between[i] = work.trial[i] + length * (task.lam[i] - work.trial[i]);
        work.between_sigma[i] = work.trial_sigma[i] + length * (task.sigma[i] - work.trial_sigma[i]);
      }
      const double residual = contact_residual(problem, work.between.data(), work.between_sigma.data());
      if (residual < least) {
        least = residual;
        best = length;
      }
      if (least < 0.9 * broken) break;
    }
    for (int i = 0; i < n; ++i) {
      work.trial[i] += best * (task.lam[i] - work.trial[i]);
      work.trial_sigma[i] += best * (task.sigma[i] - work.trial_sigma[i]);
    }
    idle = least > 0.9 * broken ? idle + 1 : 0;
    broken = least;
  }
  task.report.iterations += work.system.factorisations();
}

// Modes of the convex problems of friction that dilates, ever harder, from work.trial; leaves impulses there.
bool dilate(Task& task) {
  constexpr int rounds = 7;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.dilating.start(problem, work.trial.data());
  double softness = 1e-2;
  for (int round = 1; round <= rounds; ++round) {
    work.dilating.round(problem, work.system, softness, task.guess, task.slides, work.trial.data(),
                        work.trial_sigma.data());
    const int steps = work.system.factorisations();
    task.report.iterations += steps;
    softness = std::max(0.1 * softness, 1e-4);
    const bool settled = steps <= 2;
    if (!settled && round != 2 && round != 4 && round != rounds) continue;
    modes_at(problem, usual_softness, work.trial.data(), work.trial_sigma.data(), task.guess, task.slides);
    if (settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved) return true;
  }
  read_modes(problem, work.trial.data(), work.trial_sigma.data(), 1e-6 * problem.velocity_scale, task.guess,
             task.slides);
  return settle(task, 1e-9, SolveStage::pivoting) == Outcome::solved;
}

// Impulses in work.trial that obey the laws, though nothing tells that they are the smallest: solved once
// more beside them with the modes they have.
bool accept(Task& task, SolveStage stage) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  for (double tolerance : {1e-8, 1e-6, 0.0}) {
    if (tolerance > 0.0) {
      read_modes(problem, work.trial.data(), work.trial_sigma.data(), tolerance * problem.velocity_scale,
                 task.guess, task.slides);
      if (!work.system.solve(problem, task.guess, task.slides, task.lam, task.sigma, work.trial.data()))
        continue;
    } else {
      std::copy(work.trial.begin(), work.trial.end(), task.lam);
      contact_velocities(problem, task.lam, task.sigma);
    }
    if (!conclude(task, stage)) continue;
    task.report.status = SolveStatus::multiple;
    return true;
  }
  return false;
}

void keep_best(Task& task, double& best, std::vector<double>& lam) {
  const double now = contact_residual(task.problem, task.work.trial.data());
  if (!(now < best)) return;
  best = now;
  lam.assign(task.work.trial.begin(), task.work.trial.end());
}

// Biases may ask for what no impulse can do (recovery from both sides of a slot). The compliant problem
//   sigma = (G + eps R) lam + b
// always has a solution. Its slack eps R lam vanishes with eps if b can be met; otherwise it tends to the
// least slack that makes the biases agree (in the norm of R^-1), and b + slack is solved in place of b.
bool grant_slack(Task& task) {
  constexpr double eps = 1e-6;
  ContactSolver& work = task.work;
  const ContactProblem problem = task.problem;
  const int n = problem.size;
  work.compliant.resize(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) std::copy(problem.row(i), problem.row(i) + n, &work.compliant[i * n]);
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      work.compliant[i * n + i] += eps * problem.mobility(block);
  }
  task.problem.G = work.compliant.data();
  task.problem.stride = n;
  guess_modes(task.problem, task.guess, task.slides);
  bool solved = pivot(task, usual_softness) == Outcome::verified;
  if (!solved) {
    task.report.iterations += work.interior_point.solve(task.problem, {}, work.trial.data());
    contact_velocities(task.problem, work.trial.data(), work.trial_sigma.data());
    read_modes(task.problem, work.trial.data(), work.trial_sigma.data(), 1e-6 * problem.velocity_scale,
               task.guess, task.slides);
    solved = pivot(task, usual_softness) == Outcome::verified;
  }
  task.problem = problem;
  if (!solved) return false;
  work.relaxed.assign(problem.b, problem.b + n);
  double largest = 0.0;
  for (const Block& block : problem.blocks) {
    if (block.kind == BlockKind::interval) continue;
    const int rows = block.kind == BlockKind::contact ? 1 : block.dim;
    for (int i = block.first; i < block.first + rows; ++i) {
      const double slack = eps * problem.mobility(block) * task.lam[i];
      work.relaxed[i] += slack;
      largest = std::max(largest, std::abs(slack));
    }
  }
  if (largest < 1e-3 * problem.velocity_scale) return false;
  task.problem.b = work.relaxed.data();
  work.trial.assign(task.lam, task.lam + n);
  solved = polish(task, SolveStage::iterating, {1e-6, 1e-8, 1e-4});
  task.problem = problem;
  if (!solved) return false;
  task.report.status = SolveStatus::infeasible_bias;
  task.report.slack = largest;
  contact_velocities(problem, task.lam, task.sigma);
  return true;
}

bool pivot_by_dantzig(Task& task) {
  if (task.problem.law != FrictionLaw::pyramid) return false;
  ContactSolver& work = task.work;
  return work.dantzig.solve(task.problem, work.system, task.guess, task.slides, task.lam) &&
         settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved;
}

bool approach_and_settle(Task& task, SolveStage stage) {
  approach(task);
  return settle(task, usual_softness, stage) == Outcome::solved;
}

// The end of the path of Lemke's method. Under the pyramid law its modes are right: pivoted to the smallest
// impulses, or taken as they are. Those of the cone are near.
bool follow_lemke(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.trial.resize(problem.size);
  const bool found = work.lemke.solve(problem, task.guess, work.trial.data());
  task.report.iterations += work.lemke.pivots();
  if (!found) return false;
  if (problem.law == FrictionLaw::cone) return approach_and_settle(task, SolveStage::pivoting);
  work.first.assign(task.guess, task.guess + problem.size);
  for (double softness : softnesses) {
    if (settle(task, softness, SolveStage::pivoting) == Outcome::solved) return true;
    std::copy(work.first.begin(), work.first.end(), task.guess);
  }
  return accept(task, SolveStage::pivoting);
}

// Impulses that nearly obey the laws, though no modes of theirs can be verified: rounds of friction that
// dilates go on until they do, or until many in a row did not help.
bool refine(Task& task, double& best) {
  constexpr int rounds = 200, patience = 30;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.trial = work.approximate;
  work.dilating.start(problem, work.trial.data());
  int idle = 0;
  for (int round = 0; round < rounds && idle < patience && best > 0.1 * exact * problem.velocity_scale;
       ++round) {
    work.dilating.round(problem, work.system, 1e-3, task.guess, task.slides, work.trial.data(),
                        work.trial_sigma.data());
    task.report.iterations += work.system.factorisations();
    const double before = best;
    keep_best(task, best, work.approximate);
    idle = best < before ? 0 : idle + 1;
  }
  work.trial = work.approximate;
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
  return polish(task, SolveStage::iterating, {1e-8}) || accept(task, SolveStage::iterating);
}

// Friction that dilates, from a warm start if there is one; then Gauss-Seidel.
bool dilate_or_sweep(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  if (task.warm)
    work.trial = work.start;
  else
    work.trial.assign(problem.size, 0.0);
  if (dilate(task) || approach_and_settle(task, SolveStage::pivoting)) return true;
  work.trial.assign(problem.size, 0.0);
  gauss_seidel(problem, 40, work.trial.data());
  return polish(task, SolveStage::iterating, {1e-4}) || approach_and_settle(task, SolveStage::iterating);
}

bool solve_task(Task& task) {
  // Rows: Dantzig's pivots cost the fourth power, and Lemke's table takes up to three rows for one.
  constexpr int small = 20, table_size = 200;
  constexpr int large = 48;  // rows: interior points cost the third power, with all rows in their matrix
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.first.assign(task.guess, task.guess + problem.size);
  for (double softness : softnesses) {
    const Outcome outcome = settle(task, softness, SolveStage::pivoting);
    if (outcome == Outcome::solved) {
      if (std::equal(work.first.begin(), work.first.end(), task.guess)) task.report.stage = SolveStage::guess;
      return true;
    }
    if (outcome == Outcome::contradicted) break;
    std::copy(work.first.begin(), work.first.end(), task.guess);
  }
  work.trial_sigma.assign(problem.size, 0.0);
  if (task.warm) {
    work.trial = work.start;
    if (approach_and_settle(task, SolveStage::pivoting)) return true;
  }
  if (problem.size <= small && pivot_by_dantzig(task)) return true;
  if (problem.size <= table_size && follow_lemke(task)) return true;
  if (problem.size > large && dilate_or_sweep(task)) return true;
  // Few, costly iterations that do not mind bad conditioning.
  work.trial.assign(problem.size, 0.0);
  work.approximate.assign(problem.size, 0.0);
  double best = contact_residual(problem, work.approximate.data());
  const InteriorPoint::Settings attempts[] = {{}, {.most_iterations = 150, .start = 10.0, .patience = 0.3}};
  for (const InteriorPoint::Settings& settings : attempts) {
    task.report.iterations += work.interior_point.solve(problem, settings, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::iterating, {1e-6, 1e-8, 1e-4})) return true;
    if (accept(task, SolveStage::iterating)) return true;
  }
  if (problem.size <= large && dilate_or_sweep(task)) return true;
  if (problem.size > table_size && follow_lemke(task)) return true;
  if (grant_slack(task)) return true;
  for (double start : {1.0, 0.1, 10.0}) {
    task.report.iterations += work.interior_point.follow_path(problem, {.start = start}, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::path, {1e-6, 1e-5, 1e-4})) return true;
    if (accept(task, SolveStage::path)) return true;
  }
  work.trial = work.approximate;
  gauss_seidel(problem, 3000, work.trial.data());
  keep_best(task, best, work.approximate);
  if (polish(task, SolveStage::iterating, {1e-6, 1e-9}) || accept(task, SolveStage::iterating)) return true;
  return refine(task, best);
}

}  // namespace

SolveReport solve_contact(const ContactProblem& given, ContactSolver& work, bool warm, const Guess& guess,
                          RowMode* mode, double* lam, double* sigma) {
  const int most_pivots = 20 + 3 * static_cast<int>(given.blocks.size());
  Task task{given, work, guess.mode, guess.slides, mode, lam, sigma, {}, most_pivots};
  if (given.size == 0) return task.report;
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
  const ContactProblem& problem = task.problem;
  if (warm) {
    make_sense(problem, guess.mode);
  } else {
    guess_modes(problem, guess.mode, guess.slides);
  }
  task.redundant = free_redundant_equalities(problem, work.compliant, guess.mode);
  task.warm = warm;
  if (warm) work.start.assign(lam, lam + problem.size);
  if (solve_task(task)) return task.report;

  std::copy(work.approximate.begin(), work.approximate.end(), lam);
  contact_velocities(problem, lam, sigma);
  read_modes(problem, lam, sigma, 1e-9 * problem.velocity_scale, guess.mode, task.slides);
  modes_of_motion(problem, sigma, 1e-6 * problem.velocity_scale, mode);
  judge(task, SolveStage::failed, SolveStatus::inexact);
  return task.report;
}

}  // namespace articula
