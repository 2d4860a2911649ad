#pragma once
// A solve under way: what it carries along, how an assignment of modes is settled (newton.cpp), and the
// searches for one (searches.cpp).

#include <initializer_list>

#include "articula/solvers/solver.hpp"

namespace articula {

constexpr std::size_t most_seen = 256;  // assignments remembered, to notice a cycle
constexpr double exact = 1e-9;          // relative residual of what counts as solved
constexpr double nearly_solved = 1e-6;  // of what is worth refining
constexpr double endless_load = 1e4;  // loads that would, alone, make so many times the velocities there are

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
  bool hasty = false;              // other searches are better where contradictions become more
  bool path_is_lost = false;       // Lemke's method ends nowhere: biases cannot be met, or nearly so
  bool contradicts = false;        // biases do, as far as nothing slides
  bool granted = false;            // slack was, in place of what no search has found
  int redundant = 0;               // rows of equalities that repeat others
  const double* centre = nullptr;  // impulses to stay near to; none: zero
  bool near_solution = false;      // the centre is: its loads are as they should be, and nothing yields
};

// What became of an assignment of modes: no assignment was found; one was, but not exactly; solved.
enum class Outcome { contradicted, verified, solved };

// Where biases contradict each other a little (feet that roll), or G is nearly singular, rows must give way
// less.
constexpr double softnesses[] = {usual_softness, 1e-9, 1e-11}, hardest = 1e-11;

// Newton's method on the soft laws from task.guess; modes of equations that hold are left there.
Outcome pivot(Task& task, double softness);
// From a soft solution in which everything at its bound slides (task.lam, sigma: soft velocities) to one in
// which what does not move yields. False if no path leads there.
bool let_yield(Task& task, double softness);
// The report: residual, and slack of redundant equalities.
void judge(Task& task, SolveStage stage, SolveStatus status);
// The modes of the motion. False if the solution does not stand up to the residual.
bool conclude(Task& task, SolveStage stage);
// The impulses that the guess came with, if they obey the laws: with the modes they have, solved exactly
// beside them.
bool keep_start(Task& task);
// A solution and its report, to come back to.
void remember(const Task& task, Settled& settled);
void recall(const Settled& settled, Task& task);
// pivot, and conclude what it verified.
Outcome settle(Task& task, double softness, SolveStage stage);
// The same with rows that give way less and less, while modes are verified, but not exact. True: solved.
bool settle_ever_harder(Task& task, SolveStage stage);

// Slack (slack.cpp). Whether an assignment that failed has loads as large as 1 / softness, or misses
// its biases by far: they may contradict each other.
bool may_contradict(const Task& task, double softness);
// Whether a solution recovers with far more energy than there is reason for: through a nearly singular
// mechanism.
bool recovers_wildly(const Task& task);
// Whether biases contradict each other. With friction: if nothing slides they do, which proves nothing before
// a solution in which something does was sought.
enum class Contradiction { none, with_friction, proven };
// Starts from task.guess, which is work.first; leaves its loads in work.balance, and their modes in the
// guess.
Contradiction find_contradiction(Task& task);
// From there: solves with the least slack that makes the biases agree.
bool yield_to_contradiction(Task& task);
// The same where nothing was proven, when all searches have failed.
bool grant_slack(Task& task);
// Solves without recovery, bounces and moving ground.
bool waive_biases(Task& task);
// Whether friction holds bodies between surfaces that the biases would part (jam.cpp): the ray of Lemke's
// method, if it ends in one, has loads z that obey the laws and balance each other. Of every solution
// z^T sigma = z^T s < 0: no normal velocity is negative, so that something would have to slide against
// friction that z holds it with, out of a wedge that locks itself. Rarely something does.
bool is_jammed(Task& task);

// All of it: the guess, Newton's method, and the searches one after the other.
bool search(Task& task);
// Of a solution that was found: whether Newton's method, with one contact after the other in another mode,
// leads to another motion. The status says so; the solution stays (second_motion.cpp).
void look_for_another(Task& task);

// Searches: true if a solution was found. Impulses are read from, and left in, work.trial where it is said.

// Modes of approximate impulses in work.trial, read to several tolerances, pivoted to a solution.
bool polish(Task& task, SolveStage stage, std::initializer_list<double> tolerances);
// Newton's method from work.trial in steps that are cut short, then pivots.
bool approach_and_settle(Task& task, SolveStage stage);
// Impulses in work.trial that obey the laws, though nothing tells that they are the smallest.
bool accept(Task& task, SolveStage stage);
// Newton's method on rows that are soft around work.trial, sigma + eps R (lam - trial): loads that are large,
// and right, move nothing. Impulses found are the next to stay near to, while they obey the laws better.
bool settle_near(Task& task, SolveStage stage);
bool settle_near(Task& task, SolveStage stage, double softness, int most_rounds);
// Remembers work.trial in `lam` if its residual is less than `best`.
void keep_best(Task& task, double& best, std::vector<double>& lam);
// Along a path from the guess and work.start, the impulses it came with or none, under the pyramid law.
bool continue_from_start(Task& task);
// The same for cones, with pyramids in their place; then Newton's method from there.
bool continue_on_pyramids(Task& task);
// A few sweeps of Gauss-Seidel from the impulses that the guess came with; then Newton's method.
bool sweep_from_start(Task& task);
bool pivot_by_dantzig(Task& task);
bool follow_lemke(Task& task);
bool dilate_or_sweep(Task& task);
// For problems of many rows (many_bodies.cpp). Near the impulses that the guess came with: bodies that have
// come to rest carry from step to step what they carried.
bool settle_near_start(Task& task);
// Friction that dilates, round after round until the laws hold, or Newton's method finds a solution nearby.
bool dilate_on(Task& task);
bool dilate_from_trial(Task& task);
// Of many bodies, by way of what moves: Newton's method, then the interior point; what that ends at is
// settled nearby.
bool search_pile(Task& task);
// The central path of the interior point, for what this does not solve.
bool follow_central_path(Task& task);
bool refine(Task& task, double& best);
// Gauss-Seidel from nothing, ever more sweeps, pivoted from where they came to each time.
bool sweep_on(Task& task, int most_sweeps, double& best);
// Whether some load would, alone, make a velocity that nothing in the problem comes near to.
bool loads_are_endless(const ContactProblem& problem, const double* lam);

}  // namespace articula
