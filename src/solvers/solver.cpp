#include "articula/solvers/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/solvers/gauss_seidel.hpp"
#include "mode_update.hpp"

namespace articula {

void ContactSolver::reserve(int rows, int block_count) {
  system.reserve(rows, block_count);
  choice.reserve(rows, block_count);
  interior_point.reserve(rows, block_count);
  slides.reserve(block_count);
  blocks.reserve(block_count);
  seen.reserve(256);
  for (std::vector<double>* vector : {&trial, &trial_sigma, &best, &final_lam, &final_sigma})
    vector->reserve(rows);
  approximate.reserve(rows);
  relaxed.reserve(rows);
  compliant.reserve(static_cast<std::size_t>(rows) * rows);
  trial_mode.reserve(rows);
}

namespace {

constexpr double exact = 1e-9;      // relative residual of what counts as solved
constexpr double least_mu = 1e-12;  // laws divide by mu; less than this makes no force that could be measured

// Everything a solve carries along.
struct Task {
  ContactProblem problem;
  ContactSolver& work;
  RowMode* mode;
  double *lam, *sigma;
  SolveReport report;
  int most_pivots;
};

enum class Outcome { verified, contradicted };

// Solve, verify, change, until nothing is contradicted. An assignment seen before means a cycle: from then
// on only the worst contradiction is changed; a second cycle ends the search.
Outcome pivot(Task& task, const double* start) {
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  work.seen.clear();
  bool careful = false;
  for (int pass = 0; pass < task.most_pivots; ++pass) {
    const bool settled =
        work.system.solve(problem, task.mode, work.slides.data(), task.lam, task.sigma, start);
    task.report.iterations += work.system.factorisations();
    const double error = work.system.equation_error();
    if (!settled || error > 1e-10 * problem.velocity_scale) return Outcome::contradicted;
    const double tolerance = std::max(mode_tolerance(problem, task.lam), 4.0 * error);
    const std::uint64_t hash = hash_modes(task.mode, problem.size);
    if (std::find(work.seen.begin(), work.seen.end(), hash) != work.seen.end()) {
      if (careful) return Outcome::contradicted;
      careful = true;
      work.seen.clear();
    }
    if (work.seen.size() < work.seen.capacity()) work.seen.push_back(hash);
    if (update_modes(problem, task.lam, task.sigma, tolerance, careful, task.mode, work.slides.data()) == 0)
      return Outcome::verified;
  }
  return Outcome::contradicted;
}

void judge(Task& task, SolveStage stage, SolveStatus status) {
  task.report.stage = stage;
  task.report.status = status;
  task.report.residual = contact_residual(task.problem, task.lam, task.sigma);
  task.report.relative_residual = task.report.residual / task.problem.velocity_scale;
}

// Velocities this small count as rest.
double motion_tolerance(const ContactProblem& problem, const double* lam) {
  return 10.0 * mode_tolerance(problem, lam);
}

double largest_difference(const double* a, const double* b, int n) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Directions rounded to about six digits: where Newton's method does not find them by itself, it starts from
// the same place wherever they were found.
void round_directions(std::vector<SlideState>& slides) {
  for (SlideState& slide : slides) {
    for (double* x : {&slide.d[0], &slide.d[1], &slide.d[2], &slide.d[3], &slide.d[4]})
      *x = std::round(*x * 1e6) * 1e-6;
    slide.speed = static_cast<float>(slide.speed);
    slide.normal = static_cast<float>(slide.normal);
  }
}

bool admissible(const Task& task, const double* lam, const double* sigma) {
  return contact_residual(task.problem, lam, sigma) <= 1e-10 * task.problem.velocity_scale;
}

enum class Motion { same, other, lost };

// The modes of the motion that was found, solved from zero: nothing is left of how they were found. Another
// motion with these modes means that there are many.
Motion solve_motion(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const int n = problem.size;
  work.final_lam.resize(n);
  work.final_sigma.resize(n);
  const auto verdict = [&](bool settled) {
    task.report.iterations += work.system.factorisations();
    if (!settled) return Motion::lost;
    const double change = largest_difference(work.final_sigma.data(), task.sigma, n);
    if (change <= 1e-8 * problem.velocity_scale) return Motion::same;
    return admissible(task, work.final_lam.data(), work.final_sigma.data()) ? Motion::other : Motion::lost;
  };
  const Motion motion = verdict(work.system.solve(problem, work.trial_mode.data(), work.slides.data(),
                                                  work.final_lam.data(), work.final_sigma.data()));
  if (motion != Motion::lost) return motion;
  read_directions(problem, task.lam, task.sigma, work.slides.data());
  round_directions(work.slides);
  work.best.assign(n, 0.0);
  return verdict(work.system.solve(problem, work.trial_mode.data(), work.slides.data(), work.final_lam.data(),
                                   work.final_sigma.data(), work.best.data()));
}

// From a verified solution to the one we return: the smallest impulses that make its motion, computed from
// the problem and the modes of the motion alone. False if the solution does not stand up to that.
bool conclude(Task& task, SolveStage stage, bool from_zero) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const int n = problem.size;
  work.trial_mode.resize(n);
  modes_of_motion(problem, task.sigma, motion_tolerance(problem, task.lam), work.trial_mode.data());
  const bool same = std::equal(task.mode, task.mode + n, work.trial_mode.begin());
  const bool unique = !work.system.singular();
  if (same && from_zero && (unique || work.system.symmetric())) {
    judge(task, stage, work.system.determinant_sign() < 0.0 ? SolveStatus::multiple : SolveStatus::solved);
    return task.report.relative_residual <= exact;
  }
  const Motion motion = solve_motion(task);
  bool chosen = motion != Motion::lost;
  if (motion == Motion::same && (!admissible(task, work.final_lam.data(), work.final_sigma.data()) ||
                                 (work.system.singular() && !work.system.symmetric()))) {
    chosen = work.choice.choose(problem, work.trial_mode.data(), work.slides.data(), work.final_lam.data());
    contact_velocities(problem, work.final_lam.data(), work.final_sigma.data());
    chosen = chosen && admissible(task, work.final_lam.data(), work.final_sigma.data());
  }
  if (chosen) {
    std::copy(work.trial_mode.begin(), work.trial_mode.end(), task.mode);
    std::copy(work.final_lam.begin(), work.final_lam.end(), task.lam);
    std::copy(work.final_sigma.begin(), work.final_sigma.end(), task.sigma);
  }
  const bool doubtful = !chosen || motion == Motion::other || work.system.determinant_sign() < 0.0;
  judge(task, stage, doubtful ? SolveStatus::multiple : SolveStatus::solved);
  return task.report.relative_residual <= exact;
}

// Modes of approximate impulses in work.trial, pivoted to a solution.
bool polish(Task& task, SolveStage stage, std::initializer_list<double> tolerances) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
  for (double tolerance : tolerances) {
    read_modes(problem, work.trial.data(), work.trial_sigma.data(), tolerance * problem.velocity_scale,
               task.mode, work.slides.data());
    if (pivot(task, work.trial.data()) == Outcome::verified && conclude(task, stage, false)) return true;
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
  guess_modes(task.problem, task.mode);
  bool solved = pivot(task, nullptr) == Outcome::verified;
  if (!solved) {
    task.report.iterations += work.interior_point.solve(task.problem, {}, work.trial.data());
    contact_velocities(task.problem, work.trial.data(), work.trial_sigma.data());
    read_modes(task.problem, work.trial.data(), work.trial_sigma.data(), 1e-6 * problem.velocity_scale,
               task.mode, work.slides.data());
    solved = pivot(task, work.trial.data()) == Outcome::verified;
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

bool solve_task(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  if (pivot(task, nullptr) == Outcome::verified) {
    const SolveStage stage = task.report.iterations == 1 ? SolveStage::guess : SolveStage::pivoting;
    if (conclude(task, stage, true)) return true;
  }
  // Few, costly iterations that do not mind bad conditioning; then slower and surer.
  work.trial.assign(problem.size, 0.0);
  work.trial_sigma.assign(problem.size, 0.0);
  gauss_seidel(problem, 40, work.trial.data());
  if (polish(task, SolveStage::iterating, {1e-4})) return true;
  work.approximate.assign(problem.size, 0.0);
  double best = contact_residual(problem, work.approximate.data());
  const InteriorPoint::Settings attempts[] = {{}, {.most_iterations = 150, .start = 10.0, .patience = 0.3}};
  for (const InteriorPoint::Settings& settings : attempts) {
    task.report.iterations += work.interior_point.solve(problem, settings, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::iterating, {1e-6, 1e-8, 1e-4})) return true;
  }
  if (grant_slack(task)) return true;
  for (double start : {1.0, 0.1, 10.0}) {
    task.report.iterations += work.interior_point.follow_path(problem, {.start = start}, work.trial.data());
    keep_best(task, best, work.approximate);
    if (polish(task, SolveStage::path, {1e-6, 1e-5, 1e-4})) return true;
  }
  work.trial = work.approximate;
  gauss_seidel(problem, 3000, work.trial.data());
  keep_best(task, best, work.approximate);
  return polish(task, SolveStage::iterating, {1e-6, 1e-9});
}

}  // namespace

SolveReport solve_contact(const ContactProblem& given, ContactSolver& work, bool warm, RowMode* mode,
                          double* lam, double* sigma) {
  Task task{given, work, mode, lam, sigma, {}, 10 + 2 * static_cast<int>(given.blocks.size())};
  if (given.size == 0) return task.report;
  if (!std::all_of(given.b, given.b + given.size, [](double b) { return std::isfinite(b); })) {
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
  work.slides.assign(problem.blocks.size(), {});
  if (!warm) guess_modes(problem, mode);
  if (solve_task(task)) return task.report;

  std::copy(work.approximate.begin(), work.approximate.end(), lam);
  contact_velocities(problem, lam, sigma);
  read_modes(problem, lam, sigma, 1e-9 * problem.velocity_scale, mode, work.slides.data());
  judge(task, SolveStage::failed, SolveStatus::inexact);
  return task.report;
}

}  // namespace articula
