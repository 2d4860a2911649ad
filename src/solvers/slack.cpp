// Biases may ask for what no impulse can do (recovery from both sides of a slot): then the least slack that
// makes them agree is granted, and b + slack solved in place of b.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mode_update.hpp"
#include "redundant.hpp"
#include "task.hpp"

namespace articula {

namespace {

// Rows whose velocity a bias can ask for: normals, limits and equalities.
template <class Visit>
void for_biased_rows(const ContactProblem& problem, const Visit& visit) {
  for (const Block& block : problem.blocks) {
    if (block.kind == BlockKind::interval) continue;
    const int rows = block.kind == BlockKind::contact ? 1 : block.dim;
    for (int i = block.first; i < block.first + rows; ++i) visit(block, i);
  }
}

// Whether some bias asks for a velocity: recovery, a bounce, a loop that closes. Gaps ask for none. Where
// nothing does (s_N >= 0, s = 0 on equalities and tangents) z^T b = z^T s >= 0 for all loads z that balance
// each other, G z = 0, and a solution exists.
bool asks_for_motion(const ContactProblem& problem) {
  if (problem.bias == nullptr) return true;  // for all that is known
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i) {
      const double s = problem.bias[i];
      const bool gap =
          block.kind == BlockKind::unilateral || (block.kind == BlockKind::contact && i == block.first);
      if (gap ? s < 0.0 : s != 0.0) return true;
    }
  }
  return false;
}

constexpr double compliance = 1e-4;  // softness at which loads of contradicting rows keep their digits

// Loads z that grow by as much in every step of the proximal method,
//   (G + eps R) lam_k+1 = eps R lam_k - b,
// with the modes of the rows: what contradicts, eps R z, without what does not. Leaves z in work.balance.
bool find_balance(Task& task) {
  constexpr int steps = 6;
  ContactSolver& work = task.work;
  work.balance.assign(task.problem.size, 0.0);
  for (int step = 0; step < steps; ++step) {
    std::copy_n(task.lam, step == 0 ? 0 : task.problem.size, work.balance.begin());
    work.system.begin(task.problem, work.balance.data(), compliance);
    double turned = 0.0;
    if (!work.system.soft_step(task.problem, task.guess, task.slides, task.lam, task.sigma, turned))
      return false;
    task.report.iterations += work.system.factorisations();
  }
  for (int i = 0; i < task.problem.size; ++i) work.balance[i] = compliance * (task.lam[i] - work.balance[i]);
  return true;
}

// Whether z proves that no velocity of reasonable size meets all biases s: loads of rows that hold, none of
// which pulls, nearly balance each other, z^T G z = 0, and the slack R z is what the biases ask for, z^T s =
// -z^T R z (Farkas; the velocities there are, z^T (b - s), do not matter). Loads of friction prove it only
// for what does not slide.
Contradiction judge_balance(const Task& task) {
  constexpr double balanced = 1e-3;
  const ContactProblem& problem = task.problem;
  const std::vector<double>& z = task.work.balance;
  double slack = 0.0, pull = 0.0, asked = 0.0, needed = 0.0, moved = 0.0, all = 0.0;
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i) all += problem.mobility(block) * z[i] * z[i];
  }
  for_biased_rows(problem, [&](const Block& block, int i) {
    const double velocity = problem.mobility(block) * z[i];
    slack = std::max(slack, std::abs(velocity));
    if (block.kind != BlockKind::equality) pull = std::max(pull, -velocity);
    asked -= z[i] * problem.bias[i];
    needed += z[i] * velocity;
  });
  if (slack <= exact * problem.velocity_scale || pull > balanced * slack || asked < 0.5 * needed)
    return Contradiction::none;
  for (int i = 0; i < problem.size; ++i) {
    if (z[i] != 0.0) moved += z[i] * std::inner_product(z.begin(), z.end(), problem.row(i), 0.0);
  }
  if (moved > balanced * needed) return Contradiction::none;
  return all - needed > balanced * needed ? Contradiction::with_friction : Contradiction::proven;
}

// Of a solution with work.relaxed in place of b.
void report_slack(Task& task, const ContactProblem& given) {
  double slack = task.report.slack;
  for (int i = 0; i < given.size; ++i) slack = std::max(slack, std::abs(task.work.relaxed[i] - given.b[i]));
  task.report.slack = slack;
  task.granted = true;
  task.report.status = SolveStatus::infeasible_bias;
  contact_velocities(given, task.lam, task.sigma);
}

}  // namespace

// Slack is never more than what biases ask for, and the same however soft rows are: in rows that give way
// less, less of it is told from what loads of a solution leave.
bool may_contradict(const Task& task, double softness) {
  const ContactProblem& problem = task.problem;
  if (problem.bias == nullptr) return false;
  const double noticed = endless_load * softness * problem.velocity_scale;
  double asked = 0.0, granted = 0.0;
  for_biased_rows(problem, [&](const Block& block, int i) {
    const double s = problem.bias[i];
    asked = std::max(asked, block.kind == BlockKind::equality ? std::abs(s) : -s);
    const double load = softness * problem.mobility(block) * std::abs(task.lam[i]);
    const double missed = task.guess[i] == RowMode::hold ? std::abs(task.sigma[i]) : 0.0;
    granted = std::max({granted, load, missed});
  });
  return asked > noticed && granted > noticed;
}

// The work of the biases, -lam^T s, against what they would do to rows of their own, and against the energy
// of the velocities there are: what a stack weighs does some work on small biases, too.
bool recovers_wildly(const Task& task) {
  constexpr double wild = 1e3;
  const ContactProblem& problem = task.problem;
  if (problem.bias == nullptr) return false;
  double work = 0.0, usual = 0.0, moving = 0.0, fastest = 0.0;
  for_biased_rows(problem, [&](const Block& block, int i) {
    const double s = problem.bias[i];
    if (task.guess[i] != RowMode::hold) return;
    work -= task.lam[i] * s;
    usual = std::max(usual, s * s / problem.mobility(block));
    moving += problem.velocity_scale * problem.velocity_scale / problem.mobility(block);
    fastest = std::max(fastest, std::abs(s));
  });
  return fastest > 1e-2 * problem.velocity_scale && work > std::max(wild * usual, moving);
}

Contradiction find_contradiction(Task& task) {
  if (task.problem.bias == nullptr) return Contradiction::none;
  if (pivot(task, compliance) != Outcome::verified)
    std::copy(task.work.first.begin(), task.work.first.end(), task.guess);
  return find_balance(task) ? judge_balance(task) : Contradiction::none;
}

// Rows that contradict each other press against each other. How hard is not determined: as their balance z
// says, with which each of them alone would give the slack's velocity. What rows still lack is the rounding
// error of the slack, and goes there.
bool yield_to_contradiction(Task& task) {
  constexpr double rounding = 1e-2;
  ContactSolver& work = task.work;
  const ContactProblem given = task.problem;
  task.contradicts = true;
  work.relaxed.assign(given.b, given.b + given.size);
  for_biased_rows(
      given, [&](const Block& block, int i) { work.relaxed[i] += given.mobility(block) * work.balance[i]; });
  task.problem.b = work.relaxed.data();
  task.centre = work.balance.data();
  bool solved = false;
  for (double softness : {usual_softness, usual_softness, 1e-9, 1e-9, 1e-11, 1e-11}) {
    const Outcome outcome = settle(task, softness, SolveStage::pivoting);
    solved = outcome == Outcome::solved;
    if (solved || outcome == Outcome::contradicted || task.report.relative_residual > rounding) break;
    for (int i = 0; i < given.size; ++i) {
      if (task.guess[i] == RowMode::hold) work.relaxed[i] -= task.sigma[i];
    }
    for_biased_rows(given, [&](const Block&, int i) {
      if (task.guess[i] == RowMode::free && task.sigma[i] < 0.0) work.relaxed[i] -= task.sigma[i];
    });
  }
  task.problem = given;
  task.centre = nullptr;
  if (solved) report_slack(task, given);
  return solved;
}

// Where no proof was found. The compliant problem
//   sigma = (G + eps R) lam + b
// always has a solution. Its slack eps R lam vanishes with eps if b can be met; otherwise it tends to the
// least slack that makes the biases agree (in the norm of R^-1), and b + slack is solved in place of b.
bool grant_slack(Task& task) {
  constexpr double eps = 1e-6;
  ContactSolver& work = task.work;
  const ContactProblem problem = task.problem;
  if (!asks_for_motion(problem)) return false;
  const int n = problem.size;
  work.compliant.resize(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) std::copy(problem.row(i), problem.row(i) + n, &work.compliant[i * n]);
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      work.compliant[i * n + i] += eps * problem.mobility(block);
  }
  work.system.forget();
  task.problem.G = work.compliant.data();
  task.problem.roots = nullptr;
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
  work.system.forget();  // G is the given one again
  if (!solved) return false;
  work.relaxed.assign(problem.b, problem.b + n);
  double largest = 0.0;
  for_biased_rows(problem, [&](const Block& block, int i) {
    const double slack = eps * problem.mobility(block) * task.lam[i];
    work.relaxed[i] += slack;
    largest = std::max(largest, std::abs(slack));
  });
  // As little as loads of a solution leave, unless they prove that there is none.
  if (largest < 1e-3 * problem.velocity_scale)
    return problem.bias != nullptr && find_balance(task) && judge_balance(task) == Contradiction::proven &&
           yield_to_contradiction(task);
  task.problem.b = work.relaxed.data();
  work.trial.assign(task.lam, task.lam + n);
  solved = polish(task, SolveStage::iterating, {1e-6, 1e-8, 1e-4});
  task.problem = problem;
  if (solved) report_slack(task, problem);
  return solved;
}

namespace {

// Where no search has found a solution there may be one all the same: rows contradict each other by less than
// the softest hide, or something slides out of a wedge. It is near the one with slack, and is sought from
// there: with its modes, in rows as soft as they hold in; otherwise along a path under the pyramid law, and
// by Newton's method in shorter steps on cones. False: the solution with slack, as it was.
bool does_without(Task& task, Settled& granted) {
  ContactSolver& work = task.work;
  const ContactProblem& problem = task.problem;
  const auto go_back = [&] {
    granted.report.iterations = task.report.iterations;
    recall(granted, task);
  };
  const auto holds = [&](bool solved) {
    return solved && !loads_are_endless(problem, task.lam) && !recovers_wildly(task);
  };
  for (double softness : softnesses) {
    if (holds(settle(task, softness, SolveStage::pivoting) == Outcome::solved)) return true;
    go_back();
  }
  work.first.assign(granted.guess.begin(), granted.guess.end());
  work.first_slides.assign(granted.slides.begin(), granted.slides.end());
  work.start.assign(granted.lam.begin(), granted.lam.end());
  work.trial_sigma.assign(problem.size, 0.0);
  work.trial = work.start;
  const bool found =
      problem.law == FrictionLaw::pyramid
          ? holds(continue_from_start(task))
          : holds(approach_and_settle(task, SolveStage::pivoting)) || holds(continue_on_pyramids(task));
  if (!found) go_back();
  return found;
}

}  // namespace

// Without what the biases ask for, a solution exists: bodies jammed between surfaces that friction holds
// together stay as they are, however deep. Gaps are kept; what the ground does along itself is waived last.
bool waive_biases(Task& task) {
  ContactSolver& work = task.work;
  const ContactProblem given = task.problem;
  if (given.bias == nullptr) return false;
  bool solved = false;
  for (const bool tangents : {false, true}) {
    work.relaxed.assign(given.b, given.b + given.size);
    double waived = 0.0;
    const auto waive = [&](int i, double asked) {
      work.relaxed[i] -= asked;
      waived = std::max(waived, std::abs(asked));
    };
    for_biased_rows(given, [&](const Block& block, int i) {
      waive(i, block.kind == BlockKind::equality ? given.bias[i] : std::min(given.bias[i], 0.0));
    });
    for (const Block& block : given.blocks) {
      if (!tangents || block.kind != BlockKind::contact) continue;
      for (int i = block.first + 1; i < block.first + block.dim; ++i) waive(i, given.bias[i]);
    }
    if (waived <= exact * given.velocity_scale) continue;
    task.problem.b = work.relaxed.data();
    task.problem.bias = nullptr;
    if (task.warm) {  // the last step may have waived them, too
      std::copy(work.first.begin(), work.first.end(), task.guess);
      std::copy(work.first_slides.begin(), work.first_slides.end(), task.slides);
    } else {
      guess_modes(task.problem, task.guess, task.slides);
    }
    if (task.redundant > 0) free_redundant_equalities(task.problem, work.compliant, task.guess);
    solved = search(task);
    task.problem = given;
    if (solved) break;
  }
  if (!solved) return false;
  remember(task, task.work.found);
  if (!does_without(task, task.work.found)) report_slack(task, given);
  return true;
}

}  // namespace articula
