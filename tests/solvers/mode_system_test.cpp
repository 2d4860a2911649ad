#include "articula/solvers/mode_system.hpp"

#include <gtest/gtest.h>

#include "tests/support/contact_problems.hpp"

namespace articula::testing::mode_system_test {
namespace {

// Two rows that hold and nearly say the same, G = [1 c; c 1]: in closed form lam_1 + lam_2 = -(b_1 + b_2) /
// (1 + c), lam_1 - lam_2 = -(b_1 - b_2) / (1 - c).
TEST(mode_system, rows_that_are_nearly_dependent_are_met_like_others) {
  for (const double apart : {1e-4, 1e-6, 1e-7, 1e-8}) {  // next to the softness that is iterated away
    OwnedProblem problem;
    problem.blocks = {{.kind = BlockKind::equality, .first = 0, .dim = 2}};
    problem.G = MatrixX::Ones(2, 2);
    problem.G(0, 1) = problem.G(1, 0) = 1.0 - apart;
    problem.b = Vector2(0.3, 0.1);
    const ContactProblem view = problem.view(0.01);
    const RowMode modes[2] = {RowMode::hold, RowMode::hold};
    SlideState slides[1];
    Vector2 lam, sigma;
    ModeSystem system;
    system.begin(view, nullptr);
    double turned = 0.0;
    ASSERT_TRUE(system.soft_step(view, modes, slides, lam.data(), sigma.data(), turned));
    ASSERT_TRUE(system.harden(view, modes, slides, lam.data(), sigma.data()));
    const double off = 1.0 - problem.G(0, 1);  // as it is rounded
    EXPECT_NEAR(lam[0] - lam[1], -0.2 / off, 1e-7 * 0.2 / off) << apart;
    EXPECT_NEAR(lam[0] + lam[1], -0.4 / (2.0 - off), 1e-7 * 0.2 / off) << apart;
  }
}

// Rows that contradict each other share the difference, however hard they are.
TEST(mode_system, rows_that_contradict_each_other_miss_alike) {
  OwnedProblem problem;
  problem.blocks = {{.kind = BlockKind::equality, .first = 0, .dim = 2}};
  problem.G = MatrixX::Ones(2, 2);
  problem.b = Vector2(0.3, 0.1);
  const ContactProblem view = problem.view(0.01);
  const RowMode modes[2] = {RowMode::hold, RowMode::hold};
  SlideState slides[1];
  Vector2 lam, sigma;
  ModeSystem system;
  system.begin(view, nullptr);
  double turned = 0.0;
  ASSERT_TRUE(system.soft_step(view, modes, slides, lam.data(), sigma.data(), turned));
  ASSERT_TRUE(system.harden(view, modes, slides, lam.data(), sigma.data()));
  EXPECT_NEAR(sigma[0], 0.1, 1e-6);
  EXPECT_NEAR(sigma[1], -0.1, 1e-6);
  EXPECT_NEAR(lam.sum(), -0.2, 1e-6);
}

}  // namespace
}  // namespace articula::testing::mode_system_test
