#include "articula/solvers/lemke.hpp"

#include <gtest/gtest.h>

#include "tests/support/contact_problems.hpp"

namespace articula::testing::lemke_test {
namespace {

struct Path {
  bool found = false;
  VectorX lam;
  std::vector<RowMode> mode;
};

Path follow(Lemke& lemke, const ContactProblem& problem) {
  Path path{.lam = VectorX::Zero(problem.size), .mode = std::vector<RowMode>(problem.size, RowMode::hold)};
  path.found = lemke.solve(problem, path.mode.data(), path.lam.data());
  return path;
}

TEST(lemke, solves_every_generated_problem_alone) {
  std::mt19937 random(8);
  Lemke lemke;
  for (int k = 0; k < 1000; ++k) {
    const OwnedProblem problem = random_contact_problem(random, {.law = FrictionLaw::pyramid});
    const ContactProblem view = problem.view(0.01);
    const Path path = follow(lemke, view);
    ASSERT_TRUE(path.found) << k;
    EXPECT_LE(contact_residual(view, path.lam.data()), 1e-6 * view.velocity_scale) << k;
  }
}

// One mass on two rows of dry friction, pushed at speed 3: the first holds as long as it can.
//   sigma = lam_1 + lam_2 - 3,  |lam_1| <= 1,  |lam_2| <= 4:   lam_1 + lam_2 = 3
TEST(lemke, intervals_end_at_their_bounds) {
  OwnedProblem problem;
  problem.law = FrictionLaw::pyramid;
  problem.blocks = {{.kind = BlockKind::interval, .first = 0, .bound = 1.0},
                    {.kind = BlockKind::interval, .first = 1, .bound = 4.0}};
  problem.G = MatrixX::Ones(2, 2);
  problem.b = VectorX::Constant(2, -3.0);
  Lemke lemke;
  Path path = follow(lemke, problem.view(0.01));
  ASSERT_TRUE(path.found);
  EXPECT_NEAR(path.lam.sum(), 3.0, 1e-9);
  EXPECT_LE(std::abs(path.lam[0]), 1.0 + 1e-9);

  problem.b = VectorX::Constant(2, -7.0);  // more than both can do
  path = follow(lemke, problem.view(0.01));
  ASSERT_TRUE(path.found);
  EXPECT_NEAR(path.lam[0], 1.0, 1e-9);
  EXPECT_NEAR(path.lam[1], 4.0, 1e-9);
  EXPECT_EQ(path.mode[0], RowMode::upper);
  EXPECT_EQ(path.mode[1], RowMode::upper);
}

// A unilateral row that an equality leaves nothing to do: pulled apart at the same speed.
TEST(lemke, equalities_come_first_even_if_they_repeat_each_other) {
  OwnedProblem problem;
  problem.law = FrictionLaw::pyramid;
  problem.blocks = {{.kind = BlockKind::equality, .first = 0, .dim = 2},
                    {.kind = BlockKind::unilateral, .first = 2}};
  problem.G = MatrixX::Ones(3, 3);
  problem.b = VectorX::Constant(3, -2.0);
  Lemke lemke;
  const Path path = follow(lemke, problem.view(0.01));
  ASSERT_TRUE(path.found);
  EXPECT_NEAR(path.lam.sum(), 2.0, 1e-9);
  EXPECT_GE(path.lam[2], 0.0);
}

// Two walls that ask a body to leave towards the other: loads of both grow without end, and balance. Where
// one of them asks for nothing, a solution exists, and no ray.
TEST(lemke, a_path_that_leads_nowhere_ends_in_loads_that_balance) {
  OwnedProblem problem;
  problem.law = FrictionLaw::pyramid;
  problem.blocks = {{.kind = BlockKind::unilateral, .first = 0}, {.kind = BlockKind::unilateral, .first = 1}};
  problem.G = MatrixX::Ones(2, 2);
  problem.G(0, 1) = problem.G(1, 0) = -1.0;
  problem.b = Eigen::Vector2d(-0.1, -0.3);
  Lemke lemke;
  VectorX z = VectorX::Zero(2);
  ASSERT_TRUE(lemke.find_ray(problem.view(0.01), z.data()));
  EXPECT_GT(z[0], 0.0);
  EXPECT_NEAR(z[0], z[1], 1e-9 * z[0]);
  problem.b = Eigen::Vector2d(-0.1, 0.3);
  EXPECT_FALSE(lemke.find_ray(problem.view(0.01), z.data()));
}

// The modes are those of the impulses: what is free carries nothing, what slips carries all it can.
TEST(lemke, modes_tell_what_impulses_do) {
  std::mt19937 random(9);
  Lemke lemke;
  for (int k = 0; k < 200; ++k) {
    const OwnedProblem problem = random_contact_problem(random, {.law = FrictionLaw::pyramid});
    const ContactProblem view = problem.view(0.01);
    const Path path = follow(lemke, view);
    ASSERT_TRUE(path.found) << k;
    const double scale = path.lam.cwiseAbs().maxCoeff();
    for (const Block& block : view.blocks) {
      if (block.kind != BlockKind::contact) continue;
      const double normal = path.lam[block.first];
      EXPECT_EQ(path.mode[block.first] == RowMode::free, normal == 0.0);
      for (int i = 0; i < block.tangents(); ++i) {
        const RowMode mode = path.mode[block.first + 1 + i];
        const double bound = mode == RowMode::upper   ? block.mu[i] * normal
                             : mode == RowMode::lower ? -block.mu[i] * normal
                                                      : path.lam[block.first + 1 + i];
        EXPECT_NEAR(path.lam[block.first + 1 + i], bound, 1e-8 * scale) << k;
      }
    }
  }
}

}  // namespace
}  // namespace articula::testing::lemke_test
