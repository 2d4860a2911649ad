// Problems of which all motions are known in closed form.
#include <gtest/gtest.h>

#include "articula/solvers/solver.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing::second_motion_test {
namespace {

// A rod that a contact pushes round as it slides: with G_NN = G_TT = 1 and G_NT = -0.9, and a free motion
// b = (0.1, -1, 0),
//   it parts:   lam = 0, sigma_N = 0.1
//   it sticks:  lam = -G^-1 b = (0.8, 0.91, 0) / 0.19, within the cone if mu > 0.91 / 0.8
// where friction pulls the rod onto the ground harder than it was leaving it (0.9 mu > 1: Painleve). With
// less friction it parts, and nothing else.
OwnedProblem leaning_rod(FrictionLaw law, double mu) {
  OwnedProblem p;
  p.law = law;
  p.G = MatrixX::Identity(3, 3);
  p.G(0, 1) = p.G(1, 0) = -0.9;
  p.b = Vector3(0.1, -1.0, 0.0);
  Block block{.kind = BlockKind::contact, .first = 0, .dim = 3};
  for (double& x : block.mu) x = mu;
  p.blocks.push_back(block);
  return p;
}

struct Solved {
  SolveReport report;
  VectorX lam;
};

Solved solve(const OwnedProblem& p, bool thorough, RowMode guessed = RowMode::free) {
  ContactSolver work;
  const int n = static_cast<int>(p.b.size());
  std::vector<RowMode> guess(n, guessed), mode(n);
  std::vector<SlideState> slides(p.blocks.size());
  Solved s{.lam = VectorX::Zero(n)};
  VectorX sigma(n);
  s.report = solve_contact(p.view(0.01), work, true, {guess.data(), slides.data()}, mode.data(), s.lam.data(),
                           sigma.data(), thorough);
  return s;
}

TEST(second_motion, a_rod_that_parts_or_sticks_is_said_to_have_several_from_either) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    const OwnedProblem p = leaning_rod(law, 1.5);
    const Solved parts = solve(p, true, RowMode::free), sticks = solve(p, true, RowMode::hold);
    EXPECT_LT(parts.lam.norm(), 1e-15);
    EXPECT_NEAR(sticks.lam[0], 0.8 / 0.19, 1e-12);
    EXPECT_NEAR(sticks.lam[1], 0.91 / 0.19, 1e-12);
    for (const Solved& s : {parts, sticks}) {
      EXPECT_EQ(s.report.status, SolveStatus::multiple);
      EXPECT_TRUE(s.report.other_motion);
    }
  }
}

TEST(second_motion, looking_for_another_leaves_the_one_that_was_found_as_it_was) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    std::mt19937 random(8);
    for (int k = 0; k < 50; ++k) {
      const OwnedProblem p = random_contact_problem(random, {.law = law});
      const Solved plain = solve(p, false), thorough = solve(p, true);
      EXPECT_EQ(plain.lam, thorough.lam);
      EXPECT_EQ(plain.report.residual, thorough.report.residual);
      EXPECT_GE(thorough.report.status, plain.report.status);
    }
  }
}

TEST(second_motion, a_rod_with_little_friction_has_one_motion) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    const Solved s = solve(leaning_rod(law, 1.0), true);
    EXPECT_EQ(s.report.status, SolveStatus::solved);
    EXPECT_FALSE(s.report.other_motion);
    EXPECT_LT(s.lam.norm(), 1e-15);
  }
}

// Two points of one foot, pressed down by 1 N s that they share as they like, and free to slide apart with
// velocities of 2 and 0.6 m/s per N s. With mu = 1 both slide if each carries half; the slower stays if it
// carries 0.6 or more.
TEST(second_motion, of_two_points_that_share_a_load_one_slides_or_stays) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    OwnedProblem p;
    p.law = law;
    p.G = MatrixX::Identity(6, 6);
    p.G(0, 3) = p.G(3, 0) = 1.0;
    p.b = VectorX::Zero(6);
    p.b << -1.0, 2.0, 0.0, -1.0, 0.6, 0.0;
    for (int first : {0, 3}) {
      Block block{.kind = BlockKind::contact, .first = first, .dim = 3};
      for (double& x : block.mu) x = 1.0;
      p.blocks.push_back(block);
    }
    const Solved s = solve(p, true);
    EXPECT_LT(s.report.relative_residual, 1e-12);
    EXPECT_EQ(s.report.status, SolveStatus::multiple) << to_string(s.report.status);
    // Alone on one side there is nothing to share.
    p.G(0, 3) = p.G(3, 0) = 0.0;
    EXPECT_EQ(solve(p, true).report.status, SolveStatus::solved);
  }
}

}  // namespace
}  // namespace articula::testing::second_motion_test
