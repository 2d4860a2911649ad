// Whether the motion that was found is the only one. Friction may hold a foot that is caught between two
// others, or let it slide off, and both obey the laws: which of them is found is up to the start.

#include <algorithm>
#include <cmath>

#include "mode_update.hpp"
#include "task.hpp"

namespace articula {

namespace {

// lam_T at its bound, as if the contact moved against the friction that holds it.
void slide_against_friction(const ContactProblem& problem, const Block& block, const double* lam,
                            RowMode* mode, SlideState& slide) {
  constexpr double share = 0.3;  // of a direction in a tangent of a pyramid that slides as well
  double squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    slide.d[i] = -lam[block.first + 1 + i] / block.mu[i];
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

// From the solution found, with one contact in another mode: along a path, or, as paths bend on cones, by
// Newton's method there, and along a path on pyramids where that fails.
bool leads_elsewhere(Task& task, const Settled& found, int k, RowMode other) {
  const ContactProblem& problem = task.problem;
  const Block& block = problem.blocks[k];
  ContactSolver& work = task.work;
  std::copy(found.guess.begin(), found.guess.end(), task.guess);
  std::copy(found.slides.begin(), found.slides.end(), task.slides);
  if (other == RowMode::slide)
    slide_against_friction(problem, block, found.lam.data(), task.guess, task.slides[k]);
  else
    std::fill(task.guess + block.first, task.guess + block.first + block.dim, other);
  work.first.assign(task.guess, task.guess + problem.size);
  work.first_slides.assign(task.slides, task.slides + problem.blocks.size());
  work.start.assign(found.lam.begin(), found.lam.end());
  const bool solved = problem.law == FrictionLaw::pyramid
                          ? continue_from_start(task)
                          : settle(task, usual_softness, SolveStage::pivoting) == Outcome::solved ||
                                continue_on_pyramids(task);
  return solved && moves_otherwise(task, found);
}

bool search_elsewhere(Task& task, const Settled& found) {
  const ContactProblem& problem = task.problem;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (!has_friction(block)) continue;
    const auto tangents = found.mode.begin() + block.first + 1;
    const bool parts = found.mode[block.first] == RowMode::free;
    const bool holds =
        std::all_of(tangents, tangents + block.tangents(), [](RowMode m) { return m == RowMode::hold; });
    const RowMode now = parts ? RowMode::free : holds ? RowMode::hold : RowMode::slide;
    for (const RowMode other : {RowMode::hold, RowMode::slide, RowMode::free}) {
      if (other != now && leads_elsewhere(task, found, static_cast<int>(k), other)) return true;
    }
  }
  return false;
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
