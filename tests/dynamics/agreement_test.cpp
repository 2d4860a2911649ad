// The rigid-body algorithms against each other: each computes the same equations of motion another
// way.

#include <gtest/gtest.h>

#include <cmath>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/error.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::agreement_test {
namespace {

constexpr double tolerance = 1e-11;

struct TreeCase {
  std::mt19937 random;
  Model model;
  Data data;
  RandomState state;

  explicit TreeCase(int seed)
      : random(static_cast<unsigned>(seed)),
        model(random_model(random, options(seed))),
        data(model),
        state(random_state(model, random)) {}

  // Sizes from 1 to 100 bodies; every tenth is a chain.
  static RandomTree options(int seed) {
    return {.bodies = seed % 20 == 19 ? 100 : 1 + seed * 7 % 40, .chain = seed % 10 == 9};
  }
};

constexpr int trees = 220;

TEST(algorithms_agree, inverse_dynamics_undoes_forward_dynamics) {
  for (int seed = 0; seed < trees; ++seed) {
    TreeCase c(seed);
    const VectorX tau = uniform_vector(c.random, c.model.nv(), 10.0);
    VectorX a(c.model.nv()), back(c.model.nv());
    ASSERT_TRUE(aba(c.model, c.data, c.state.q, c.state.v, tau, a));
    rnea(c.model, c.data, c.state.q, c.state.v, a, back);
    // Rounding in a is amplified by M; the scale is what M makes of the largest accelerations.
    crba(c.model, c.data, c.state.q);
    MatrixX M(c.model.nv(), c.model.nv());
    dense_mass_matrix(c.model, c.data, M);
    const double scale = std::max((M.cwiseAbs() * a.cwiseAbs()).maxCoeff(), tau.cwiseAbs().maxCoeff());
    EXPECT_LT((back - tau).cwiseAbs().maxCoeff() / scale, tolerance) << "seed " << seed;
  }
}

TEST(algorithms_agree, columns_of_the_mass_matrix_are_inverse_dynamics_of_unit_accelerations) {
  for (int seed = 0; seed < trees; ++seed) {
    TreeCase c(seed);
    const int nv = c.model.nv();
    MatrixX M(nv, nv), columns(nv, nv);
    VectorX tau(nv), still(nv);
    const VectorX zero = VectorX::Zero(nv);
    rnea(c.model, c.data, c.state.q, zero, zero, still);
    for (int d = 0; d < nv; ++d) {
      rnea(c.model, c.data, c.state.q, zero, VectorX::Unit(nv, d), tau);
      columns.col(d) = tau - still;
    }
    crba(c.model, c.data, c.state.q);
    dense_mass_matrix(c.model, c.data, M);
    // tau - still cancels the weight: the scale includes it.
    const double scale = std::max(M.cwiseAbs().maxCoeff(), still.cwiseAbs().maxCoeff());
    EXPECT_LT((columns - M).cwiseAbs().maxCoeff() / scale, tolerance) << "seed " << seed;
  }
}

TEST(algorithms_agree, the_factor_inverts_the_mass_matrix) {
  for (int seed = 0; seed < trees; ++seed) {
    TreeCase c(seed);
    const int nv = c.model.nv();
    crba(c.model, c.data, c.state.q);
    ASSERT_TRUE(factor_mass_matrix(c.model, c.data));
    VectorX product(nv), x = c.state.a;
    multiply_mass_matrix(c.model, c.data, c.state.a, product);
    RowMatrix many(nv, 3);
    many << product, 2 * product, product;
    solve_mass_matrix(c.model, c.data, product);
    solve_mass_matrix_columns(c.model, c.data, many);
    MatrixX M(nv, nv);
    dense_mass_matrix(c.model, c.data, M);
    EXPECT_LT((M * (product - x)).norm() / (M.norm() * x.norm()), tolerance) << "seed " << seed;
    EXPECT_LT((M * (many.col(1) - 2 * x)).norm() / (M.norm() * x.norm()), tolerance) << seed;
  }
}

// P = D^-1/2 L^-T has P M P^T = 1, and recovering is applying its transpose.
TEST(algorithms_agree, halves_of_a_solve_make_the_mass_matrix_one) {
  for (int seed = 0; seed < trees; ++seed) {
    TreeCase c(seed);
    const int nv = c.model.nv(), width = (nv + 3) / 4 * 4;
    crba(c.model, c.data, c.state.q);
    ASSERT_TRUE(factor_mass_matrix(c.model, c.data));
    std::vector<double> root_inverse(nv);
    for (int d = 0; d < nv; ++d) root_inverse[d] = std::sqrt(c.data.inverse_diagonal[d]);
    RowMatrix P = RowMatrix::Identity(nv, width), Pt = P;
    project_columns(c.model, c.data, root_inverse, P);
    recover_columns(c.model, c.data, root_inverse, Pt);
    MatrixX M(nv, nv);
    dense_mass_matrix(c.model, c.data, M);
    const MatrixX half = P.leftCols(nv);
    EXPECT_LT((Pt.leftCols(nv) - half.transpose()).norm() / half.norm(), tolerance) << "seed " << seed;
    const double scale = M.norm() * half.squaredNorm();
    EXPECT_LT((half * M * half.transpose() - MatrixX::Identity(nv, nv)).norm() / scale, tolerance) << seed;
    RowMatrix odd(nv, 3);
    EXPECT_THROW(project_columns(c.model, c.data, root_inverse, odd), Error);
  }
}

TEST(algorithms_agree, forward_dynamics_is_the_factor_applied_to_the_unbalanced_forces) {
  for (int seed = 0; seed < trees; ++seed) {
    TreeCase c(seed);
    const int nv = c.model.nv();
    const VectorX tau = uniform_vector(c.random, nv, 10.0);
    ExternalWrenches external = Matrix6X::Zero(6, c.model.nbody());
    for (int b = 1; b < c.model.nbody(); ++b) external.col(b) = uniform_vector(c.random, 6, 5.0);
    const DynamicsOptions options{.external = &external, .gyroscopic_step = seed % 2 == 0 ? 0.01 : 0.0};
    VectorX a(nv), bias(nv);
    ASSERT_TRUE(aba(c.model, c.data, c.state.q, c.state.v, tau, a, options));
    bias_forces(c.model, c.data, c.state.q, c.state.v, bias, options);
    crba(c.model, c.data, c.state.q);
    ASSERT_TRUE(factor_mass_matrix(c.model, c.data));
    VectorX direct = tau - bias;
    solve_mass_matrix(c.model, c.data, direct);
    MatrixX M(nv, nv);
    dense_mass_matrix(c.model, c.data, M);
    EXPECT_LT((M * (a - direct)).norm() / (M.norm() * a.norm()), tolerance) << "seed " << seed;
  }
}

}  // namespace
}  // namespace articula::testing::agreement_test
