#include "articula/math/lu.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_tree.hpp"

namespace articula::testing::lu_test {
namespace {

MatrixX random_matrix(std::mt19937& random, int n) {
  MatrixX A(n, n);
  for (int i = 0; i < n; ++i) A.row(i) = uniform_vector(random, n).transpose();
  return A;
}

void copy_into(LuFactor& lu, const MatrixX& A) {
  lu.resize(static_cast<int>(A.rows()));
  for (int i = 0; i < A.rows(); ++i) {
    for (int j = 0; j < A.cols(); ++j) lu.row(i)[j] = A(i, j);
  }
}

TEST(lu, solutions_satisfy_the_equations_for_every_size) {
  std::mt19937 random(1);
  LuFactor lu;
  for (int n = 1; n <= 41; ++n) {
    const MatrixX A = random_matrix(random, n);
    copy_into(lu, A);
    ASSERT_TRUE(lu.factor());
    const VectorX x = uniform_vector(random, n);
    VectorX y = A * x, z = A.transpose() * x;
    lu.solve(y.data());
    lu.solve_transposed(z.data());
    EXPECT_LT((y - x).norm(), 1e-9) << n;
    EXPECT_LT((z - x).norm(), 1e-9) << n;
    EXPECT_EQ(lu.determinant_sign(), A.determinant() > 0.0 ? 1.0 : -1.0) << n;
  }
}

TEST(lu, symmetric_factors_read_the_upper_triangle_only) {
  std::mt19937 random(2);
  LuFactor lu;
  for (int n = 1; n <= 41; ++n) {
    const MatrixX B = random_matrix(random, n);
    const MatrixX A = B * B.transpose() + MatrixX::Identity(n, n);
    MatrixX upper = A;
    upper.triangularView<Eigen::StrictlyLower>().setConstant(1e9);
    copy_into(lu, upper);
    ASSERT_TRUE(lu.factor_symmetric());
    const VectorX x = uniform_vector(random, n);
    VectorX y = A * x, z = y;
    lu.solve(y.data());
    lu.solve_transposed(z.data());
    EXPECT_LT((y - x).norm(), 1e-10) << n;
    EXPECT_EQ((y - z).norm(), 0.0);
  }
}

TEST(lu, bordered_factors_are_those_of_the_whole_matrix) {
  std::mt19937 random(3);
  LuFactor lu;
  for (int n = 1; n <= 30; ++n) {
    for (int symmetric : {0, n / 3, n / 2, n - 1, n}) {
      MatrixX A = random_matrix(random, n);
      const MatrixX B = random_matrix(random, n);
      A.topLeftCorner(symmetric, symmetric) =
          (B * B.transpose() + MatrixX::Identity(n, n)).topLeftCorner(symmetric, symmetric);
      MatrixX given = A;
      given.topLeftCorner(symmetric, symmetric).triangularView<Eigen::StrictlyLower>().setConstant(1e9);
      copy_into(lu, given);
      ASSERT_TRUE(lu.factor_bordered(symmetric));
      const VectorX x = uniform_vector(random, n);
      VectorX y = A * x, z = A.transpose() * x;
      lu.solve(y.data());
      lu.solve_transposed(z.data());
      EXPECT_LT((y - x).norm(), 1e-8) << n << " " << symmetric;
      EXPECT_LT((z - x).norm(), 1e-8) << n << " " << symmetric;
      EXPECT_EQ(lu.determinant_sign(), A.determinant() > 0.0 ? 1.0 : -1.0) << n << " " << symmetric;
    }
  }
}

TEST(lu, singular_and_indefinite_matrices_are_refused) {
  LuFactor lu;
  copy_into(lu, MatrixX::Zero(5, 5));
  EXPECT_FALSE(lu.factor());
  copy_into(lu, -MatrixX::Identity(5, 5));
  EXPECT_FALSE(lu.factor_symmetric());
  copy_into(lu, MatrixX::Constant(5, 5, std::nan("")));
  EXPECT_FALSE(lu.factor());
}

}  // namespace
}  // namespace articula::testing::lu_test
