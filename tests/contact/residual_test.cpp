// The residual against distances worked out by hand.
#include <gtest/gtest.h>

#include "articula/contact/solution.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing::residual_test {
namespace {

OwnedProblem one_block(FrictionLaw law, const Block& block, const MatrixX& G, const VectorX& b) {
  OwnedProblem problem;
  problem.law = law;
  problem.blocks = {block};
  problem.G = G;
  problem.b = b;
  return problem;
}

double residual(const OwnedProblem& problem, const VectorX& lam) {
  return contact_residual(problem.view(), lam.data());
}

Block contact(int dim, double mu) {
  Block block{.kind = BlockKind::contact, .dim = dim};
  for (double& x : block.mu) x = mu;
  return block;
}

TEST(residual, a_limit_errs_by_its_velocity_or_by_its_pull) {
  const OwnedProblem p = one_block(FrictionLaw::cone, {.kind = BlockKind::unilateral},
                                   2.0 * MatrixX::Identity(1, 1), VectorX::Constant(1, -3.0));
  EXPECT_DOUBLE_EQ(residual(p, VectorX::Constant(1, 1.5)), 0.0);
  EXPECT_DOUBLE_EQ(residual(p, VectorX::Constant(1, 0.0)), 3.0);   // approaches at 3 m/s
  EXPECT_DOUBLE_EQ(residual(p, VectorX::Constant(1, 2.0)), 1.0);   // parts at 1 m/s, and pushes
  EXPECT_DOUBLE_EQ(residual(p, VectorX::Constant(1, -1.0)), 5.0);  // sigma = -5
}

TEST(residual, an_equality_errs_by_its_velocity) {
  const OwnedProblem p = one_block(FrictionLaw::cone, {.kind = BlockKind::equality, .dim = 2},
                                   MatrixX::Identity(2, 2), Eigen::Vector2d(1.0, -4.0));
  EXPECT_DOUBLE_EQ(residual(p, Eigen::Vector2d(-1.0, 4.0)), 0.0);
  EXPECT_DOUBLE_EQ(residual(p, Eigen::Vector2d(-1.0, 1.0)), 3.0);
}

TEST(residual, dry_friction_is_right_at_its_bound_while_it_slips_and_inside_while_it_sticks) {
  const Block interval{.kind = BlockKind::interval, .bound = 0.5};
  const OwnedProblem slipping =
      one_block(FrictionLaw::cone, interval, MatrixX::Identity(1, 1), VectorX::Constant(1, 2.0));
  EXPECT_DOUBLE_EQ(residual(slipping, VectorX::Constant(1, -0.5)), 0.0);
  EXPECT_DOUBLE_EQ(residual(slipping, VectorX::Constant(1, 0.5)), 1.0);
  const OwnedProblem stuck =
      one_block(FrictionLaw::cone, interval, MatrixX::Identity(1, 1), VectorX::Constant(1, 0.2));
  EXPECT_DOUBLE_EQ(residual(stuck, VectorX::Constant(1, -0.2)), 0.0);
  EXPECT_NEAR(residual(stuck, VectorX::Constant(1, 0.0)), 0.2, 1e-15);
}

// A particle of unit mass lands at (-1, u): it sticks if u <= mu, else it keeps u - mu.
TEST(residual, a_landing_particle_sticks_or_slides_by_the_size_of_mu) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    const OwnedProblem sticks =
        one_block(law, contact(3, 0.5), MatrixX::Identity(3, 3), Vector3(-1.0, 0.4, 0.0));
    EXPECT_NEAR(residual(sticks, Vector3(1.0, -0.4, 0.0)), 0.0, 1e-15);
    const OwnedProblem slides =
        one_block(law, contact(3, 0.5), MatrixX::Identity(3, 3), Vector3(-1.0, 2.0, 0.0));
    EXPECT_NEAR(residual(slides, Vector3(1.0, -0.5, 0.0)), 0.0, 1e-15);
    EXPECT_GT(residual(slides, Vector3(1.0, -0.4, 0.0)), 0.05);
    EXPECT_GT(residual(slides, Vector3(1.0, -0.6, 0.0)), 0.05);
    EXPECT_GT(residual(slides, Vector3(1.1, -0.55, 0.0)), 0.05);
    const OwnedProblem parts =
        one_block(law, contact(3, 0.5), MatrixX::Identity(3, 3), Vector3(1.0, 2.0, 0.0));
    EXPECT_NEAR(residual(parts, Vector3::Zero()), 0.0, 1e-15);
  }
}

TEST(residual, the_pyramid_is_a_box_and_the_cone_is_round) {
  const double s = std::sqrt(0.5);
  const Vector3 b(-1.0, 2.0 * s, 2.0 * s);
  const OwnedProblem cone = one_block(FrictionLaw::cone, contact(3, 0.5), MatrixX::Identity(3, 3), b);
  EXPECT_NEAR(residual(cone, Vector3(1.0, -0.5 * s, -0.5 * s)), 0.0, 1e-15);
  const OwnedProblem box = one_block(FrictionLaw::pyramid, contact(3, 0.5), MatrixX::Identity(3, 3), b);
  EXPECT_NEAR(residual(box, Vector3(1.0, -0.5, -0.5)), 0.0, 1e-15);
}

// Spin and rolling with coefficients of their own: friction opposes mu o sigma on the ellipse.
TEST(residual, unequal_coefficients_make_an_ellipse_that_dissipates_most) {
  for (int dim : {4, 6}) {
    Block block = contact(dim, 0.8);
    block.mu[2] = 0.1;
    block.mu[3] = block.mu[4] = 0.02;
    VectorX b = VectorX::Constant(dim, 3.0);
    b[0] = -1.0;
    VectorX lam = VectorX::Zero(dim);
    lam[0] = 1.0;
    // G = 1 for the normal and almost nothing for the tangents, which therefore keep their velocity.
    MatrixX G = 1e-12 * MatrixX::Identity(dim, dim);
    G(0, 0) = dim;
    b[0] = -static_cast<double>(dim);
    double length = 0.0;
    for (int i = 0; i < dim - 1; ++i) length += std::pow(block.mu[i] * b[i + 1], 2);
    for (int i = 0; i < dim - 1; ++i) lam[i + 1] = -block.mu[i] * block.mu[i] * b[i + 1] / std::sqrt(length);
    EXPECT_LT(residual(one_block(FrictionLaw::cone, block, G, b), lam), 1e-10) << dim;
    lam[1] *= 0.9;
    EXPECT_GT(residual(one_block(FrictionLaw::cone, block, G, b), lam), 1e-3) << dim;
  }
}

TEST(margins, are_the_distance_to_the_next_change_of_modes) {
  const OwnedProblem p =
      one_block(FrictionLaw::cone, contact(3, 0.5), MatrixX::Identity(3, 3), Vector3(-1.0, 0.4, 0.0));
  const RowMode hold[] = {RowMode::hold, RowMode::hold, RowMode::hold};
  const Vector3 lam(1.0, -0.4, 0.0), rest = Vector3::Zero();
  EXPECT_NEAR(block_margin(p.view(), p.blocks[0], lam.data(), rest.data(), hold).impulse, 0.2, 1e-15);
  const RowMode free[] = {RowMode::free, RowMode::free, RowMode::free};
  const Vector3 parting(0.3, 1.0, 1.0);
  EXPECT_NEAR(block_margin(p.view(), p.blocks[0], rest.data(), parting.data(), free).velocity, 0.3, 1e-15);
}

}  // namespace
}  // namespace articula::testing::residual_test
