#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "articula/solvers/gauss_seidel.hpp"
#include "mode_update.hpp"
#include "task.hpp"

namespace articula {

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

namespace {

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
  // Where there is no step to be made, too, modes are those of this law, not of pyramids on the way to it.
  modes_at(problem, usual_softness, work.trial.data(), work.trial_sigma.data(), task.guess, task.slides);
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
// Where these obey the laws and no modes can be verified, because loads are shared in too many ways, they are
// taken as they are; while they come closer, it goes on.
bool dilate(Task& task) {
  constexpr int few_rounds = 7, most_rounds = 30;
  constexpr double close = 1e-3;  // relative residual
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.dilating.start(problem, work.trial.data());
  double softness = 1e-2, residual = std::numeric_limits<double>::infinity();
  for (int round = 1; round <= most_rounds; ++round) {
    work.dilating.round(problem, work.system, {.softness = softness}, task.guess, task.slides,
                        work.trial.data(), work.trial_sigma.data());
    const int steps = work.system.factorisations();
    task.report.iterations += steps;
    softness = std::max(0.1 * softness, 1e-4);
    const double before = std::exchange(residual, contact_residual(problem, work.trial.data()));
    const bool obeys = residual <= 0.5 * exact * problem.velocity_scale;
    const bool goes_on = residual < close * problem.velocity_scale && residual < 0.7 * before;
    const bool settled = steps <= 2 && (round <= few_rounds || !goes_on);
    if (settled || obeys || round == 2 || round == 4 || round == few_rounds) {
      modes_at(problem, usual_softness, work.trial.data(), work.trial_sigma.data(), task.guess, task.slides);
      if (settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved) return true;
    }
    if (round >= few_rounds && (obeys || !goes_on)) break;
  }
  read_modes(problem, work.trial.data(), work.trial_sigma.data(), 1e-6 * problem.velocity_scale, task.guess,
             task.slides);
  if (settle(task, 1e-9, SolveStage::pivoting) == Outcome::solved) return true;
  return residual <= 0.5 * exact * problem.velocity_scale && accept(task, SolveStage::pivoting);
}

}  // namespace

// Impulses in work.trial that obey the laws, though nothing tells that they are the smallest: solved once
// more beside them with the modes they have.
bool accept(Task& task, SolveStage stage) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
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
    // Loads that grow without end obey any laws as well as one likes: they are those of biases that
    // contradict each other, or of a jam.
    if (loads_are_endless(problem, task.lam) || !conclude(task, stage)) continue;
    task.report.status = SolveStatus::multiple;
    return true;
  }
  return false;
}

// Around zero, rows would give way by eps R lam, which is no small velocity where bodies are nearly jammed
// and loads are 1e5 times what the motion needs.
bool settle_near(Task& task, SolveStage stage, double softness, int most_rounds) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  bool solved = false;
  work.between = work.trial;
  task.centre = work.between.data();
  task.near_solution = true;
  double residual = contact_residual(problem, task.centre);
  for (int round = 0; round < most_rounds && !solved; ++round) {
    contact_velocities(problem, task.centre, work.trial_sigma.data());
    modes_at(problem, hardest, task.centre, work.trial_sigma.data(), task.guess, task.slides);
    solved = settle(task, softness, stage) == Outcome::solved;
    const double before = std::exchange(residual, contact_residual(problem, task.lam));
    if (!(residual < 0.5 * before)) break;
    std::copy(task.lam, task.lam + problem.size, work.between.begin());
  }
  task.near_solution = false;
  task.centre = nullptr;
  if (solved) task.report.status = SolveStatus::multiple;
  return solved;
}

bool settle_near(Task& task, SolveStage stage) {
  constexpr int most_rounds = 4;
  return std::any_of(std::begin(softnesses), std::end(softnesses),
                     [&](double softness) { return settle_near(task, stage, softness, most_rounds); });
}

void keep_best(Task& task, double& best, std::vector<double>& lam) {
  const double now = contact_residual(task.problem, task.work.trial.data());
  if (!(now < best)) return;
  best = now;
  lam.assign(task.work.trial.begin(), task.work.trial.end());
}

// From the guess and work.start, with rows ever harder.
bool continue_from_start(Task& task) {
  ContactSolver& work = task.work;
  for (double softness : softnesses) {
    std::copy(work.first.begin(), work.first.end(), task.guess);
    std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
    const bool found =
        work.continuation.solve(task.problem, work.system, {.lam = work.start.data(), .softness = softness},
                                task.guess, task.slides, task.lam, task.sigma);
    task.report.iterations += work.system.factorisations();
    if (!found) continue;
    if (!let_yield(task, softness)) {
      std::copy(work.soft.mode.begin(), work.soft.mode.end(), task.guess);
      std::copy(work.soft.slides.begin(), work.soft.slides.end(), task.slides);
    }
    if (settle(task, softness, SolveStage::pivoting) == Outcome::solved) return true;
  }
  return false;
}

namespace {

// What slides or yields on its cone, on a pyramid: tangents that have a share in its direction are at a
// bound.
void modes_on_pyramids(const ContactProblem& problem, const SlideState* slides, RowMode* mode) {
  constexpr double share = 0.4;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact) continue;
    for (int i = 0; i < block.tangents(); ++i) {
      RowMode& m = mode[block.first + 1 + i];
      if (m != RowMode::slide && m != RowMode::yield) continue;
      const double d = slides[k].d[i];
      m = d > share ? RowMode::lower : d < -share ? RowMode::upper : RowMode::hold;
    }
  }
}

}  // namespace

bool continue_on_pyramids(Task& task) {
  ContactSolver& work = task.work;
  ContactProblem pyramids = task.problem;
  pyramids.law = FrictionLaw::pyramid;
  std::copy(work.first.begin(), work.first.end(), task.guess);
  modes_on_pyramids(pyramids, work.first_slides.data(), task.guess);
  std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
  const bool found = work.continuation.solve(pyramids, work.system, {.lam = work.start.data()}, task.guess,
                                             task.slides, task.lam, task.sigma);
  task.report.iterations += work.system.factorisations();
  if (!found) return false;
  work.trial.assign(task.lam, task.lam + pyramids.size);
  return approach_and_settle(task, SolveStage::pivoting);
}

bool sweep_from_start(Task& task) {
  constexpr int sweeps = 50;
  task.work.trial = task.work.start;
  gauss_seidel(task.problem, sweeps, task.work.trial.data());
  return approach_and_settle(task, SolveStage::iterating);
}

bool pivot_by_dantzig(Task& task) {
  if (task.problem.law != FrictionLaw::pyramid) return false;
  ContactSolver& work = task.work;
  return work.dantzig.solve(task.problem, work.system, task.guess, task.slides, task.lam) &&
         settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved;
}

bool approach_and_settle(Task& task, SolveStage stage) {
  approach(task);
  return settle_ever_harder(task, stage);
}

// Whether some load would, alone, make a velocity that nothing in the problem comes near to.
bool loads_are_endless(const ContactProblem& problem, const double* lam) {
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (problem.mobility(block) * std::abs(lam[i]) > endless_load * problem.velocity_scale) return true;
    }
  }
  return false;
}

// The end of the path of Lemke's method. Under the pyramid law its modes are right: pivoted to the smallest
// impulses, or taken as they are. Those of the cone are near.
bool follow_lemke(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.trial.assign(problem.size, 0.0);  // what is not found is not what another problem had
  const bool found = work.lemke.solve(problem, task.guess, work.trial.data());
  task.report.iterations += work.lemke.pivots();
  task.path_is_lost = !found || loads_are_endless(problem, work.trial.data());
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
// dilates go on until they do, or until many in a row did not help; then once more with harder rows.
bool refine(Task& task, double& best) {
  constexpr int rounds = 200, patience = 20, alone = 3;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  for (double softness : {1e-3, 1e-5, 1e-7}) {
    work.trial = work.approximate;
    work.dilating.start(problem, work.trial.data());
    DilatingFriction::Round settings{.softness = softness};
    settings.tolerance = std::clamp(1e-15 / softness, 1e-11, settings.tolerance);
    int idle = 0;
    for (int round = 0; round < rounds && idle < patience && best > 0.1 * exact * problem.velocity_scale;
         ++round) {
      settings.accelerated = round > alone;
      work.dilating.round(problem, work.system, settings, task.guess, task.slides, work.trial.data(),
                          work.trial_sigma.data());
      task.report.iterations += work.system.factorisations();
      const double before = best;
      keep_best(task, best, work.approximate);
      idle = best < before ? 0 : idle + 1;
    }
  }
  work.trial = work.approximate;
  contact_velocities(problem, work.trial.data(), work.trial_sigma.data());
  return polish(task, SolveStage::iterating, {1e-8}) || accept(task, SolveStage::iterating);
}

namespace {

// What friction that dilates came to, if it is near a solution; kept in work.dilated. Other searches begin
// elsewhere, and may get where this does not.
bool refine_dilated(Task& task) {
  ContactSolver& work = task.work;
  work.dilated = work.trial;
  double residual = contact_residual(task.problem, work.dilated.data());
  if (residual >= nearly_solved * task.problem.velocity_scale) return false;
  work.approximate.swap(work.dilated);
  const bool solved = refine(task, residual);
  work.approximate.swap(work.dilated);
  return solved;
}

}  // namespace

// Friction that dilates, from a warm start if there is one; then Gauss-Seidel.
bool dilate_or_sweep(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  if (task.warm)
    work.trial = work.start;
  else
    work.trial.assign(problem.size, 0.0);
  if (dilate(task)) return true;
  if (refine_dilated(task)) return true;
  if (approach_and_settle(task, SolveStage::pivoting)) return true;
  work.trial.assign(problem.size, 0.0);
  gauss_seidel(problem, 40, work.trial.data());
  return polish(task, SolveStage::iterating, {1e-4}) || approach_and_settle(task, SolveStage::iterating);
}

// Slow where bodies are stacked, but it goes on where other searches stall. Of what cannot be met loads grow
// without end and nothing comes nearer: twice as many sweeps, twice in a row, and hardly less of a residual.
bool sweep_on(Task& task, int most_sweeps, double& best) {
  constexpr double close = 1e-3;  // relative residual
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.trial.assign(problem.size, 0.0);
  double least = std::numeric_limits<double>::infinity();
  for (int done = 0, more = 200, idle = 0; done < most_sweeps && idle < 2; done += more, more *= 2) {
    gauss_seidel(problem, more, work.trial.data());
    if (loads_are_endless(problem, work.trial.data())) return false;
    keep_best(task, best, work.approximate);
    const double residual = contact_residual(problem, work.trial.data()) / problem.velocity_scale;
    if (residual < close && polish(task, SolveStage::iterating, {1e-6, 10.0 * residual})) return true;
    if (residual <= exact) return accept(task, SolveStage::iterating);
    idle = residual > 0.9 * least ? idle + 1 : 0;
    least = std::min(least, residual);
  }
  return false;
}

}  // namespace articula
