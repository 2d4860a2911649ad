// Searches for problems of many rows: piles, in which contacts come and go with every step, and loads can be
// shared in so many ways that the smallest are not found in reasonable time.

#include <algorithm>
#include <limits>
#include <utility>

#include "task.hpp"

namespace articula {

namespace {

// Newton's method beside work.trial, which stays; given up as soon as contradictions become more.
bool settle_soon(Task& task) {
  constexpr int most_rounds = 2;
  task.work.kept = task.work.trial;
  task.hasty = true;
  const bool solved = settle_near(task, SolveStage::pivoting, usual_softness, most_rounds);
  task.hasty = false;
  task.work.trial = task.work.kept;
  return solved;
}

}  // namespace

bool settle_near_start(Task& task) {
  task.work.trial = task.work.start;
  return settle_soon(task);
}

bool dilate_on(Task& task) {
  ContactSolver& work = task.work;
  if (task.warm)
    work.trial = work.start;
  else
    work.trial.assign(task.problem.size, 0.0);
  return dilate_from_trial(task);
}

// Each round is a convex problem, solved to its end: left before it, the centre would move to impulses that
// are far from any solution. How far Gamma is from the velocities shrinks by a tenth in a round, or, from
// what the last rounds have told, by a half. The rows become harder as the solution comes nearer, and
// impulses can be told to the rounding of sigma / (eps R).
bool dilate_from_trial(Task& task) {
  constexpr int first_rounds = 3, most_rounds = 60, patience = 15;
  constexpr double from_afar = 1e-4, progress = 0.3;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  work.dilating.start(problem, work.trial.data());
  DilatingFriction::Round settings{.softness = 1e-2, .most_steps = 40, .follows = 0.1};
  double least = std::numeric_limits<double>::infinity(), tried = 0.1;
  int idle = 0;
  for (int round = 1; round <= most_rounds && idle < patience; ++round) {
    settings.accelerated = round > first_rounds;
    settings.tolerance = std::max(1e-11, 1e-15 / settings.softness);
    work.dilating.round(problem, work.system, settings, task.guess, task.slides, work.trial.data(),
                        work.trial_sigma.data());
    task.report.iterations += work.system.factorisations();
    const double residual = contact_residual(problem, work.trial.data()) / problem.velocity_scale;
    idle = residual < 0.8 * least ? 0 : idle + 1;
    least = std::min(residual, least);
    if (residual <= 0.5 * exact) return accept(task, SolveStage::pivoting);
    if (residual < progress * tried) {
      tried = residual;
      if (settle_soon(task)) return true;
    }
    const double harder = residual < 1e-6 ? 1e-6 : from_afar;
    settings.softness = std::min(settings.softness, std::max(0.1 * settings.softness, harder));
  }
  // Where loads are shared in too many ways for rows as soft as that.
  return least < nearly_solved && (settle_near(task, SolveStage::pivoting) ||
                                   polish(task, SolveStage::pivoting, {1e-6, 10.0 * least}));
}

namespace {

// What the interior point came to: taken as it is, settled nearby, or refined.
bool end_inside(Task& task, bool last) {
  constexpr double near = 1e-3, worth_refining = 1e-5;  // relative residuals
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  double best = contact_residual(problem, work.trial.data());
  const double relative = best / problem.velocity_scale;
  if (!(relative < near) || loads_are_endless(problem, work.trial.data())) return false;
  work.approximate = work.trial;
  if (relative <= exact && accept(task, SolveStage::iterating)) return true;
  if (settle_near(task, SolveStage::iterating)) return true;
  if (!last && relative > worth_refining) return false;
  if (refine(task, best)) return true;
  work.trial = work.approximate;
  if (approach_and_settle(task, SolveStage::iterating)) return true;
  work.trial = work.approximate;
  return last && dilate_from_trial(task);
}

// Inside the cones a factor costs what it does outside, and some thirty of them lead to a solution from
// anywhere, unless friction makes the central path turn back: it is followed round its turn by arc length.
bool search_inside(Task& task) {
  constexpr int most_turns = 6;
  constexpr double past_turn = 1e-3;  // of kappa
  ContactSolver& work = task.work;
  work.approximate.assign(task.problem.size, 0.0);
  work.trial.assign(task.problem.size, 0.0);
  InteriorPoint::Settings settings{.enough = 0.1 * exact};
  for (int turn = 0; turn < most_turns; ++turn, settings.resumed = true) {
    task.report.iterations += work.interior_point.solve(task.problem, settings, work.trial.data());
    if (end_inside(task, false)) return true;
    if (!work.interior_point.can_resume()) return false;
    task.report.iterations += work.interior_point.follow_path(
        task.problem, {.most_iterations = 200, .resumed = past_turn}, work.trial.data());
  }
  return false;
}

}  // namespace

// Bodies at rest go on with the impulses of the step before, where these obey the laws still and the smallest
// are not found at once.
bool search_pile(Task& task) {
  constexpr int few_pivots = 3;
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const bool rests =
      task.warm && contact_residual(problem, work.start.data()) <= exact * problem.velocity_scale;
  const int most_pivots = std::exchange(task.most_pivots, rests ? few_pivots : task.most_pivots);
  task.hasty = task.warm;
  const Outcome outcome = settle(task, usual_softness, SolveStage::pivoting);
  task.hasty = false;
  task.most_pivots = most_pivots;
  if (outcome == Outcome::solved) {
    if (std::equal(work.first.begin(), work.first.end(), task.guess)) task.report.stage = SolveStage::guess;
    return true;
  }
  if (rests && keep_start(task)) return true;
  return (task.warm && settle_near_start(task)) || search_inside(task);
}

// The central path gets past what stops the interior point with some hundreds of factors, and has no other
// end than a solution: loads that are endless there prove that biases cannot be met. Where contacts touch
// without a load, or hold with all they can, impulses are known to the root of kappa only, and are refined.
bool follow_central_path(Task& task) {
  ContactSolver& work = task.work;
  task.report.iterations += work.interior_point.follow_path(
      task.problem, {.kappa = 2e-11, .most_iterations = 3000}, work.trial.data());
  if (loads_are_endless(task.problem, work.trial.data())) return waive_biases(task);
  return end_inside(task, true);
}

}  // namespace articula
