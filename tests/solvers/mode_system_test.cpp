#include "articula/solvers/mode_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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
    ASSERT_TRUE(system.harden(view, modes, slides, false, lam.data(), sigma.data()));
    const double off = 1.0 - problem.G(0, 1);  // as it is rounded
    EXPECT_NEAR(lam[0] - lam[1], -0.2 / off, 1e-7 * 0.2 / off) << apart;
    EXPECT_NEAR(lam[0] + lam[1], -0.4 / (2.0 - off), 1e-7 * 0.2 / off) << apart;
  }
}

// Bodies that move with x, y, and (s, t) beside a contact. Rows x and x + delta y hold, and nearly say the
// same; the contact slides along (y + s, t) by 1e-5 m/s. In closed form x = y = 0, and with s = d + slip
// friction is -d. A row that is missed by 1e-13 m/s would let y move by 1e-13 / delta, which turns what
// slides.
TEST(mode_system, rows_beside_what_slides_slowly_are_met_to_rounding) {
  for (const double delta : {2e-3, 1.5e-3, 1e-3, 8e-4, 6e-4, 5e-4}) {
    OwnedProblem problem;
    problem.blocks = {{.kind = BlockKind::equality, .first = 0, .dim = 2},
                      {.kind = BlockKind::contact, .first = 2, .dim = 3, .mu = {1.0, 1.0}}};
    MatrixX J = MatrixX::Zero(5, 5);  // of x, y, s, t, and the way along the normal
    J(0, 0) = J(1, 0) = J(2, 4) = J(3, 1) = J(3, 2) = J(4, 3) = 1.0;
    J(1, 1) = delta;
    const VectorX free = (VectorX(5) << 0.3, 0.2, 0.6 + 6e-6, 0.8 + 8e-6, -1.0).finished();
    problem.law = FrictionLaw::cone;
    problem.G = J * J.transpose();
    problem.b = J * free;
    const ContactProblem view = problem.view(0.01);
    const RowMode modes[5] = {RowMode::hold, RowMode::hold, RowMode::hold, RowMode::slide, RowMode::slide};
    SlideState slides[2];
    slides[1] = {.d = {0.6, 0.8}, .speed = 1e-5, .normal = 1.0};
    const double second = (0.6 - free[1]) / delta;
    const VectorX exact = (VectorX(5) << -free[0] - second, second, 1.0, -0.6, -0.8).finished();
    VectorX lam(5), sigma(5);
    ModeSystem system;
    ASSERT_TRUE(system.solve_near(view, modes, slides, lam.data(), sigma.data(), exact.data()));
    EXPECT_LE(sigma.head(3).cwiseAbs().maxCoeff(), 1e-14) << delta;
    EXPECT_LE((lam.tail(2) + Vector2(0.6, 0.8)).norm(), 1e-9) << delta;
  }
}

// Of softness 1e-7 two corrections leave 1e-14: a step that is content with it, while its neighbour goes on,
// has a noise that differences of steps see.
TEST(mode_system, softness_is_iterated_away_to_the_last_digits) {
  for (int i = 0; i < 100; ++i) {
    OwnedProblem problem;
    problem.blocks = {{.kind = BlockKind::equality, .first = 0, .dim = 1}};
    problem.G = MatrixX::Constant(1, 1, 1.0 + 0.01 * i);
    problem.b = VectorX::Constant(1, 0.3);
    const ContactProblem view = problem.view(0.01);
    const RowMode mode = RowMode::hold;
    SlideState slide;
    double lam = 0.0, sigma = 0.0, turned = 0.0;
    ModeSystem system;
    system.begin(view, nullptr);
    ASSERT_TRUE(system.soft_step(view, &mode, &slide, &lam, &sigma, turned));
    ASSERT_TRUE(system.harden(view, &mode, &slide, false, &lam, &sigma));
    EXPECT_LE(std::abs(sigma), 1e-15 * 0.3) << i;
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
  ASSERT_TRUE(system.harden(view, modes, slides, false, lam.data(), sigma.data()));
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

// Joints that dry friction holds, more of them than are eliminated one by one, and contacts beside them.
struct Standing {
  static constexpr int joints = 21, contacts = 4;
  OwnedProblem problem;
  std::vector<RowMode> modes;
  std::vector<SlideState> slides;

  explicit Standing(std::mt19937& random) {
    const int n = joints + 3 * contacts;
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    MatrixX J(n, n + 4);
    for (double& x : J.reshaped()) x = number(random);
    problem.G = J * J.transpose() / n;
    problem.b.resize(n);
    for (double& x : problem.b) x = number(random);
    for (int i = 0; i < joints; ++i)
      problem.blocks.push_back({.kind = BlockKind::interval, .first = i, .dim = 1, .bound = 0.2});
    for (int i = 0; i < contacts; ++i)
      problem.blocks.push_back(
          {.kind = BlockKind::contact, .first = joints + 3 * i, .dim = 3, .mu = {0.5, 0.8}});
    modes.assign(n, RowMode::hold);
    slides.resize(problem.blocks.size());
    for (SlideState& slide : slides) slide = {.d = {0.6, -0.8}, .speed = 0.3, .normal = 1.0};
  }
  void slide(int contact) {
    for (int i = 1; i < 3; ++i) modes[joints + 3 * contact + i] = RowMode::slide;
  }
  void open(int contact) {
    for (int i = 0; i < 3; ++i) modes[joints + 3 * contact + i] = RowMode::free;
  }
};

TEST(mode_system, joints_that_hold_beside_contacts_do_not_move) {
  std::mt19937 random(7);
  Standing s(random);
  s.open(0);
  s.slide(1);
  s.modes[3] = RowMode::upper;
  s.modes[12] = RowMode::lower;
  const ContactProblem view = s.problem.view(0.01);
  VectorX lam(view.size), sigma(view.size);
  ModeSystem system;
  ASSERT_TRUE(system.solve(view, s.modes.data(), s.slides.data(), lam.data(), sigma.data(), nullptr));
  EXPECT_LT((s.problem.G * lam + s.problem.b - sigma).norm(), 1e-12);
  for (int i = 0; i < view.size; ++i) {
    if (s.modes[i] == RowMode::hold) EXPECT_NEAR(sigma[i], 0.0, 1e-12) << i;
    if (s.modes[i] == RowMode::free) EXPECT_EQ(lam[i], 0.0);
  }
  EXPECT_EQ(lam[3], 0.2);
  EXPECT_EQ(lam[12], -0.2);
  // Friction against the slip, with all it has: lam_T / mu = -lam_N w / |w|, w = mu o sigma_T.
  const int n = Standing::joints + 3;
  const Vector2 w(0.5 * sigma[n + 1], 0.8 * sigma[n + 2]), force(lam[n + 1] / 0.5, lam[n + 2] / 0.8);
  EXPECT_LT((force + lam[n] * w / w.norm()).norm(), 1e-10);
}

TEST(mode_system, what_was_factored_before_changes_nothing) {
  std::mt19937 random(8);
  Standing s(random);
  const ContactProblem view = s.problem.view(0.01);
  ModeSystem used;
  used.begin(view, nullptr);
  std::uniform_int_distribution<int> contact(0, Standing::contacts - 1), joint(0, Standing::joints - 1);
  for (int change = 0; change < 60; ++change) {
    Standing now = s;
    if (change % 3 == 0) now.open(contact(random));
    if (change % 2 == 0) now.slide(contact(random));
    for (int i = change % 5; i > 0; --i) now.modes[joint(random)] = RowMode::upper;
    std::vector<bool> late(now.problem.blocks.size(), false);
    for (int i = 0; i < 6; ++i) late[joint(random)] = true;
    const bool ordered = change % 4 == 3;
    VectorX x = s.problem.b, y = s.problem.b;
    ModeSystem fresh;
    fresh.begin(view, nullptr);
    for (ModeSystem* system : {&used, &fresh}) {
      system->put_last(ordered ? &late : nullptr);
      ASSERT_TRUE(system->set_modes(view, now.modes.data(), now.slides.data()));
      system->solve_factored(system == &used ? x.data() : y.data());
    }
    used.put_last(nullptr);
    for (std::size_t i = 0; i < used.unknowns().size(); ++i) EXPECT_EQ(x[i], y[i]) << change << " " << i;
  }
}

}  // namespace
}  // namespace articula::testing::mode_system_test
