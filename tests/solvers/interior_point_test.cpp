#include "articula/solvers/interior_point.hpp"

#include <gtest/gtest.h>

#include "tests/support/contact_problems.hpp"
#include "tests/support/effort.hpp"

namespace articula::testing::interior_point_test {
namespace {

constexpr InteriorPoint::Settings usual{.enough = 1e-10};

double solve(InteriorPoint& interior, const ContactProblem& problem, int turns, std::vector<double>& lam) {
  lam.assign(problem.size, 0.0);
  InteriorPoint::Settings settings = usual;
  for (int turn = 0;; ++turn, settings.resumed = true) {
    interior.solve(problem, settings, lam.data());
    const double residual = contact_residual(problem, lam.data()) / problem.velocity_scale;
    if (residual < 1e-9 || turn == turns || !interior.can_resume()) return residual;
    interior.follow_path(problem, {.most_iterations = 200, .resumed = 1e-3}, lam.data());
  }
}

// Friction makes the path turn back: kappa has to grow for a while, which Newton's method does not do.
TEST(interior_point, gets_past_turns_of_the_central_path_by_arc_length) {
  std::mt19937 random(5);
  InteriorPoint interior;
  std::vector<double> lam;
  const int count = cases(600, 20000);
  int straight = 0, round_turns = 0;
  for (int i = 0; i < count; ++i) {
    const OwnedProblem owned = random_contact_problem(random, {.other_rows = i % 2 == 0});
    const ContactProblem problem = owned.view(0.01);
    interior.reserve(problem.size, static_cast<int>(problem.blocks.size()));
    straight += solve(interior, problem, 0, lam) < 1e-8;
    round_turns += solve(interior, problem, 6, lam) < 1e-8;
    for (double x : lam) ASSERT_TRUE(std::isfinite(x)) << i;
  }
  EXPECT_LT(straight, round_turns);
  EXPECT_GT(round_turns, 0.98 * count);
}

}  // namespace
}  // namespace articula::testing::interior_point_test
