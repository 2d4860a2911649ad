// Whether the motion that was found is the only one. Friction may hold a foot that is caught between two
// others, or let it slide off, and both obey the laws: which of them is found is up to the start.

#include <algorithm>
#include <cmath>

#include "mode_update.hpp"
#include "task.hpp"

namespace articula {

namespace {

// lam_T at its bound, as if the contact moved against the friction that holds it, or as it does where it is
// open.
void slide_against_friction(const ContactProblem& problem, const Block& block, const Settled& found,
                            RowMode* mode, SlideState& slide) {
  constexpr double share = 0.3;  // of a direction in a tangent of a pyramid that slides as well
  const bool parts = found.mode[block.first] == RowMode::free;
  const double *lam = found.lam.data(), *sigma = found.sigma.data();
  double squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const int row = block.first + 1 + i;
    slide.d[i] = parts ? block.mu[i] * sigma[row] : -lam[row] / block.mu[i];
    squared += slide.d[i] * slide.d[i];
  }
  for (int i = 0; i < block.tangents(); ++i)
    slide.d[i] = squared > 0.0 ? slide.d[i] / std::sqrt(squared) : (i == 0);
  slide.speed = 0.1 * problem.velocity_scale;
  slide.normal = std::max(lam[block.first], 1e-3 * problem.velocity_scale / problem.mobility(block));
  mode[block.first] = RowMode::hold;
  for (int i = 0; i < block.tangents(); ++i) {
    mode[block.first + 1 + i] = problem.law == FrictionLaw::cone ? RowMode::slide
                                : slide.d[i] > share             ? RowMode::lower
                                : slide.d[i] < -share            ? RowMode::upper
                                                                 : RowMode::hold;
  }
}

bool moves_otherwise(const Task& task, const Settled& found) {
  constexpr double apart = 1e-7;
  for (int i = 0; i < task.problem.size; ++i) {
    if (std::abs(task.sigma[i] - found.sigma[i]) > apart * task.problem.velocity_scale) return true;
  }
  return false;
}

// A contact that slides, taken to stand still with all the friction there is: loads that rows share may be
// large enough for that.
void let_friction_yield(const Block& block, RowMode* mode) {
  for (RowMode* m = mode + block.first + 1; m < mode + block.first + block.dim; ++m) {
    *m = *m == RowMode::slide   ? RowMode::yield
         : *m == RowMode::upper ? RowMode::yield_upper
         : *m == RowMode::lower ? RowMode::yield_lower
                                : *m;
  }
}

// The modes, directions and loads of the solution found.
void start_from(Task& task, const Settled& found) {
  std::copy(found.guess.begin(), found.guess.end(), task.guess);
  std::copy(found.slides.begin(), found.slides.end(), task.slides);
  task.work.start.assign(found.lam.begin(), found.lam.end());
}

// Along a path on which the contacts that yield stand still, and the others move wherever friction is at its
// bound.
bool stands_elsewhere(Task& task, const Settled& found) {
  constexpr int most_factorisations = 24;  // what leads elsewhere is short
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  work.moves.assign(problem.blocks.size(), true);
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const RowMode* tangents = task.guess + block.first + 1;
    if (has_friction(block) && std::any_of(tangents, tangents + block.tangents(), is_yielding))
      work.moves[k] = false;
  }
  const Continuation::Start start{
      .lam = work.start.data(), .moves = &work.moves, .most_factorisations = most_factorisations};
  const bool arrived =
      work.continuation.solve(problem, work.system, start, task.guess, task.slides, task.lam, task.sigma);
  task.report.iterations += work.system.factorisations();
  return arrived && settle_ever_harder(task, SolveStage::pivoting) && moves_otherwise(task, found);
}

// From modes at hand along a path, or, as paths bend on cones, by Newton's method there, and along a path on
// pyramids where that fails.
bool leads_elsewhere(Task& task, const Settled& found) {
  const ContactProblem& problem = task.problem;
  ContactSolver& work = task.work;
  work.first.assign(task.guess, task.guess + problem.size);
  work.first_slides.assign(task.slides, task.slides + problem.blocks.size());
  const bool solved = problem.law == FrictionLaw::pyramid
                          ? continue_from_start(task)
                          : settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved ||
                                continue_on_pyramids(task);
  return solved && moves_otherwise(task, found);
}

// The modes of one block in the solution found: free, hold, or slide.
RowMode mode_of(const Settled& found, const Block& block) {
  const auto tangents = found.mode.begin() + block.first + 1;
  if (found.mode[block.first] == RowMode::free) return RowMode::free;
  const bool holds =
      std::all_of(tangents, tangents + block.tangents(), [](RowMode m) { return m == RowMode::hold; });
  return holds ? RowMode::hold : RowMode::slide;
}

// One contact after the other in another mode.
bool change_one(Task& task, const Settled& found) {
  const ContactProblem& problem = task.problem;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (!has_friction(block)) continue;
    const RowMode now = mode_of(found, block);
    for (const RowMode other : {RowMode::hold, RowMode::slide, RowMode::free}) {
      if (other == now) continue;
      start_from(task, found);
      if (other == RowMode::slide)
        slide_against_friction(problem, block, found, task.guess, task.slides[k]);
      else
        std::fill(task.guess + block.first, task.guess + block.first + block.dim, other);
      if (leads_elsewhere(task, found)) return true;
    }
    if (now == RowMode::hold) continue;
    start_from(task, found);
    if (now == RowMode::free) slide_against_friction(problem, block, found, task.guess, task.slides[k]);
    let_friction_yield(block, task.guess);
    if (stands_elsewhere(task, found)) return true;
  }
  return false;
}

// Nothing that can be held moves.
bool hold_all(Task& task, const Settled& found) {
  start_from(task, found);
  for (const Block& block : task.problem.blocks) {
    if (block.kind == BlockKind::contact || block.kind == BlockKind::unilateral)
      std::fill(task.guess + block.first, task.guess + block.first + block.dim, RowMode::hold);
  }
  return settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved &&
         moves_otherwise(task, found);
}

// All contacts that slide stand still; those that have as much friction as they can, and stand still, slide.
bool change_all(Task& task, const Settled& found) {
  const ContactProblem& problem = task.problem;
  int sliding = 0, yielding = 0;
  for (const Block& block : problem.blocks) {
    if (!has_friction(block)) continue;
    const RowMode* tangents = found.guess.data() + block.first + 1;
    sliding += mode_of(found, block) == RowMode::slide;
    yielding += std::any_of(tangents, tangents + block.tangents(), is_yielding);
  }
  if (sliding > 1) {
    start_from(task, found);
    for (const Block& block : problem.blocks) {
      if (has_friction(block)) let_friction_yield(block, task.guess);
    }
    if (stands_elsewhere(task, found)) return true;
  }
  if (yielding < 2) return false;
  start_from(task, found);
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const RowMode* tangents = found.guess.data() + block.first + 1;
    if (has_friction(block) && std::any_of(tangents, tangents + block.tangents(), is_yielding))
      slide_against_friction(problem, block, found, task.guess, task.slides[k]);
  }
  return leads_elsewhere(task, found);
}

bool search_elsewhere(Task& task, const Settled& found) {
  return change_one(task, found) || change_all(task, found) || hold_all(task, found);
}

}  // namespace

void look_for_another(Task& task) {
  constexpr int most_rows = 150;  // of a problem whose solutions are looked for
  const ContactProblem& problem = task.problem;
  if (task.report.status != SolveStatus::solved || problem.size > most_rows) return;
  Settled& found = task.work.found;
  remember(task, found);
  task.work.trial_sigma.assign(problem.size, 0.0);
  const bool another = search_elsewhere(task, found);
  found.report.iterations = task.report.iterations;
  recall(found, task);
  task.report.other_motion = another;
  if (another) task.report.status = SolveStatus::multiple;
}

}  // namespace articula
