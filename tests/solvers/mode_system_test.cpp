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

// Two contacts that slide each its own way and press along one line, as of two links on a knee, and a third
// that hardly feels them: the last unknowns have little share in what is null, and pivots stay large.
// Loads are the limit of soft laws; rounding errors of b, which those divide by their softness, have none.
TEST(mode_system, loads_are_shared_without_noise_where_pivots_hide_that_they_can_be) {
  constexpr int limits = 3, rows = limits + 9, dofs = 11;
  MatrixX J(rows, dofs);
  for (int i = 0; i < rows; ++i) {
    for (int d = 0; d < dofs; ++d) J(i, d) = std::sin(1.0 + 3.0 * i + 2.3 * d * (i + 1));
  }
  J.row(limits + 3) = J.row(limits);
  J.bottomRows(3).leftCols(dofs - 3) *= 1e-3;
  J.topRows(rows - 3).rightCols(3) *= 1e-3;
  OwnedProblem problem;
  problem.G = J * J.transpose();
  for (int i = 0; i < limits; ++i)
    problem.blocks.push_back({.kind = BlockKind::unilateral, .first = i, .dim = 1});
  for (int first = limits; first < rows; first += 3)
    problem.blocks.push_back({.kind = BlockKind::contact, .first = first, .dim = 3, .mu = {0.3, 0.3}});
  const auto solve = [&](double noise) {
    problem.b = VectorX::Constant(rows, -0.5);
    problem.b.tail(9) << -1.0, 0.9, 0.4, -1.0 + noise, -0.3, 0.8, -1.0, 0.2, -1.1;
    const ContactProblem view = problem.view(0.01);
    std::vector<RowMode> modes(rows, RowMode::hold);
    std::vector<SlideState> slides(limits + 3);
    for (int k = 0; k < 3; ++k) {
      const int t = limits + 3 * k + 1;
      modes[t] = modes[t + 1] = RowMode::slide;
      SlideState& slide = slides[limits + k];
      slide.speed = 0.3 * problem.b.segment(t, 2).norm();
      slide.normal = 0.1;
      for (int i = 0; i < 2; ++i) slide.d[i] = 0.3 * problem.b[t + i] / slide.speed;
    }
    VectorX lam(rows), sigma(rows);
    ModeSystem system;
    EXPECT_TRUE(system.solve(view, modes.data(), slides.data(), lam.data(), sigma.data(), nullptr));
    return lam;
  };
  const VectorX lam = solve(0.0);
  for (const double noise : {1e-15, -2e-15, 3e-15})
    EXPECT_LT((solve(noise) - lam).cwiseAbs().maxCoeff(), 1e-13 * lam.cwiseAbs().maxCoeff()) << noise;
}

}  // namespace
}  // namespace articula::testing::mode_system_test
