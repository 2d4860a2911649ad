#include "articula/solvers/solver.hpp"

#include <algorithm>
#include <cmath>

#include "gauss_seidel.hpp"
#include "mode_update.hpp"

namespace articula {

void ContactSolver::reserve(int rows, int blocks) {
  system.reserve(rows, blocks);
  interior_point.reserve(rows, blocks);
  slides.reserve(blocks);
  seen.reserve(256);
  for (std::vector<double>* vector : {&trial, &trial_sigma, &best}) vector->reserve(rows);
  trial_mode.reserve(rows);
}

namespace {

std::uint64_t hash_modes(const RowMode* mode, int size) {
  std::uint64_t hash = 1469598103934665603ull;
  for (int i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint64_t>(mode[i])) * 1099511628211ull;
  return hash;
}

enum class Outcome { verified, contradicted };

// Solve, verify, change, until nothing is contradicted. An assignment seen before means a cycle: from then
// on only the worst contradiction is changed; a second cycle ends the search.
Outcome pivot(const ContactProblem& problem, ContactSolver& work, int most, const double* start,
              RowMode* mode, double* lam, double* sigma, SolveReport& report) {
  work.seen.clear();
  bool careful = false;
  for (int pass = 0; pass < most; ++pass) {
    if (!work.system.solve(problem, mode, work.slides.data(), lam, sigma, start)) {
      report.iterations += work.system.factorisations();
      return Outcome::contradicted;
    }
    report.iterations += work.system.factorisations();
    const double tolerance = std::max(mode_tolerance(problem, lam), 4.0 * work.system.equation_error());
    if (tolerance > 1e-9 * problem.velocity_scale &&
        work.system.equation_error() > 1e-10 * problem.velocity_scale)
      return Outcome::contradicted;
    const std::uint64_t hash = hash_modes(mode, problem.size);
    if (std::find(work.seen.begin(), work.seen.end(), hash) != work.seen.end()) {
      if (careful) return Outcome::contradicted;
      careful = true;
      work.seen.clear();
    }
    if (work.seen.size() < work.seen.capacity()) work.seen.push_back(hash);
    if (update_modes(problem, lam, sigma, tolerance, careful, mode, work.slides.data()) == 0)
      return Outcome::verified;
  }
  return Outcome::contradicted;
}

bool has_yield(const RowMode* mode, int size) {
  return std::find(mode, mode + size, RowMode::yield) != mode + size;
}

void finish(const ContactProblem& problem, SolveStage stage, const RowMode* mode, const double* lam,
            SolveReport& report) {
  report.stage = stage;
  report.residual = contact_residual(problem, lam);
  report.relative_residual = report.residual / problem.velocity_scale;
  report.status = stage == SolveStage::failed     ? SolveStatus::inexact
                  : has_yield(mode, problem.size) ? SolveStatus::multiple
                                                  : SolveStatus::solved;
}

}  // namespace

SolveReport solve_contact(const ContactProblem& problem, ContactSolver& work, bool warm, RowMode* mode,
                          double* lam, double* sigma) {
  SolveReport report;
  const int n = problem.size;
  if (n == 0) return report;
  work.slides.assign(problem.blocks.size(), {});
  if (!warm) guess_modes(problem, mode);
  const int most = 10 + 2 * static_cast<int>(problem.blocks.size());
  if (pivot(problem, work, most, nullptr, mode, lam, sigma, report) == Outcome::verified) {
    finish(problem, report.iterations == 1 ? SolveStage::guess : SolveStage::pivoting, mode, lam, report);
    if (report.relative_residual <= 1e-9) return report;
  }

  work.trial.assign(n, 0.0);
  work.trial_sigma.assign(n, 0.0);
  work.best.assign(n, 0.0);
  double best = contact_residual(problem, work.best.data());
  // Inside the cones first: few, costly iterations that do not mind bad conditioning.
  const InteriorPoint::Settings attempts[] = {{},
                                              {.most_iterations = 150, .start = 10.0, .patience = 0.3},
                                              {.most_iterations = 300, .start = 0.1, .patience = 0.5}};
  for (const InteriorPoint::Settings& settings : attempts) {
    report.iterations += work.interior_point.solve(problem, settings, work.trial.data());
    contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
    for (double tolerance : {1e-6, 1e-8, 1e-4}) {
      read_modes(problem, work.trial.data(), work.trial_sigma.data(), tolerance * problem.velocity_scale,
                 mode, work.slides.data());
      if (pivot(problem, work, most, work.trial.data(), mode, lam, sigma, report) == Outcome::verified) {
        finish(problem, SolveStage::iterating, mode, lam, report);
        if (report.relative_residual <= 1e-9) return report;
      }
    }
    if (const double now = contact_residual(problem, work.trial.data()); now < best) {
      best = now;
      work.best = work.trial;
    }
  }
  for (int sweeps : {100, 300, 1000, 3000}) {
    const double change = gauss_seidel(problem, sweeps, work.trial.data());
    contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
    const double now = contact_residual(problem, work.trial.data());
    if (now < best) {
      best = now;
      work.best = work.trial;
    }
    read_modes(problem, work.trial.data(), work.trial_sigma.data(),
               std::max(10.0 * change, 1e-9 * problem.velocity_scale), mode, work.slides.data());
    if (pivot(problem, work, most, work.trial.data(), mode, lam, sigma, report) == Outcome::verified) {
      finish(problem, SolveStage::iterating, mode, lam, report);
      if (report.relative_residual <= 1e-9) return report;
    }
  }
  std::copy(work.best.begin(), work.best.end(), lam);
  contact_velocities(problem, lam, sigma);
  read_modes(problem, lam, sigma, 1e-9 * problem.velocity_scale, mode, work.slides.data());
  finish(problem, SolveStage::failed, mode, lam, report);
  return report;
}

}  // namespace articula
