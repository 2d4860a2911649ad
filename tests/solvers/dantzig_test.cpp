#include "articula/solvers/dantzig.hpp"

#include <gtest/gtest.h>

#include "articula/solvers/solver.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing::dantzig_test {
namespace {

struct Pivoted {
  bool found = false;
  VectorX lam, sigma;
  std::vector<RowMode> mode;
};

Pivoted pivot(const OwnedProblem& problem) {
  const ContactProblem view = problem.view(0.01);
  ContactSolver work;
  std::vector<SlideState> slides(view.blocks.size());
  Pivoted p{.lam = VectorX::Zero(view.size),
            .sigma = VectorX::Zero(view.size),
            .mode = std::vector<RowMode>(view.size, RowMode::hold)};
  p.found = work.dantzig.solve(view, work.system, p.mode.data(), slides.data(), p.lam.data());
  contact_velocities(view, p.lam.data(), p.sigma.data());
  return p;
}

TEST(dantzig, finds_most_generated_problems_alone) {
  std::mt19937 random(4);
  int solved = 0;
  const int count = 400;
  for (int k = 0; k < count; ++k) {
    const OwnedProblem problem = random_contact_problem(random, {.law = FrictionLaw::pyramid});
    const ContactProblem view = problem.view(0.01);
    const Pivoted p = pivot(problem);
    solved += p.found && contact_residual(view, p.lam.data()) <= 1e-6 * view.velocity_scale;
  }
  EXPECT_GE(solved, count * 85 / 100);
}

// A stick that is pushed into the ground as friction drags it: every newton of friction adds c newtons to the
// normal impulse, so the bound recedes while friction grows. With G_NT = -c G_NN,
//   lam_N = (1 + c lam_T),   |lam_T| <= mu lam_N:   at the upper bound  lam_T = mu / (1 - mu c)
// whereas a bound kept at mu times the old normal impulse stops at mu.
TEST(dantzig, a_bound_that_recedes_is_met_where_it_is) {
  const double c = 0.6, mu = 0.8;
  OwnedProblem problem;
  problem.law = FrictionLaw::pyramid;
  Block block{.kind = BlockKind::contact, .first = 0, .dim = 2};
  block.mu[0] = mu;
  problem.blocks = {block};
  problem.G.resize(2, 2);
  problem.G << 1.0, -c, -c, 1.0;
  problem.b.resize(2);
  problem.b << -1.0, -10.0;
  const Pivoted p = pivot(problem);
  ASSERT_TRUE(p.found);
  EXPECT_EQ(p.mode[0], RowMode::hold);
  EXPECT_EQ(p.mode[1], RowMode::upper);
  EXPECT_NEAR(p.lam[1], mu / (1.0 - mu * c), 1e-12);
  EXPECT_NEAR(p.lam[0], 1.0 + c * p.lam[1], 1e-12);
  EXPECT_LT(p.sigma[1], 0.0);
}

}  // namespace
}  // namespace articula::testing::dantzig_test
