#include "articula/math/lu.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

MatrixX positive_matrix(std::mt19937& random, int n) {
  const MatrixX B = random_matrix(random, n);
  return B * B.transpose() + MatrixX::Identity(n, n);
}

// Bodies in a chain, whose matrix is zero but for neighbours, and a border: beyond 128 rows what is zero is
// left out of the elimination.
TEST(lu, factors_of_many_rows_that_are_mostly_zero_solve_the_same_equations) {
  std::mt19937 random(6);
  LuFactor lu;
  for (int n : {127, 128, 131, 180}) {
    MatrixX B = MatrixX::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = std::max(0, i - 7); j <= i; ++j) B(i, j) = uniform(random, -1.0, 1.0);
    }
    const MatrixX symmetric = B * B.transpose() + MatrixX::Identity(n, n);
    const VectorX x = uniform_vector(random, n);
    copy_into(lu, symmetric);
    ASSERT_TRUE(lu.factor_symmetric());
    VectorX y = symmetric * x;
    lu.solve(y.data());
    EXPECT_LT((y - x).norm(), 1e-10) << n;
    for (int border : {3, 20, 50}) {
      MatrixX A = symmetric;
      for (int i = n - border; i < n; ++i) {
        for (int j = 0; j < n; j += 5) A(i, j) = uniform(random, -1.0, 1.0);
      }
      copy_into(lu, A);
      ASSERT_TRUE(lu.factor_bordered(n - border));
      VectorX z = A * x;
      lu.solve(z.data());
      EXPECT_LT((z - x).norm(), 1e-8) << n << " " << border;
    }
  }
}

TEST(lu, condensed_rows_leave_the_schur_complement) {
  std::mt19937 random(4);
  LuFactor lu;
  for (int lead : {4, 8, 20}) {
    for (int m = 1; m <= 14; ++m) {
      const MatrixX A = positive_matrix(random, lead + m);
      copy_into(lu, A);
      ASSERT_TRUE(lu.condense(lead, 0));
      const MatrixX S =
          A.bottomRightCorner(m, m) -
          A.bottomLeftCorner(m, lead) * A.topLeftCorner(lead, lead).ldlt().solve(A.topRightCorner(lead, m));
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) EXPECT_NEAR(lu.row(lead + i)[lead + j], S(i, j), 1e-11);
      }
    }
  }
}

// Of a matrix that begins alike the leading rows stay; numbers are the same to the bit, and those of the
// first rows and columns do not depend on how many there are.
TEST(lu, condensed_rows_depend_on_nothing_but_their_own_numbers) {
  std::mt19937 random(5);
  const int lead = 12, m = 9, fewer = 6, kept = 8;
  const MatrixX first = positive_matrix(random, lead + m);
  MatrixX A = positive_matrix(random, lead + m);
  A.topLeftCorner(kept, kept) = first.topLeftCorner(kept, kept);
  A.diagonal().array() += 10.0;
  A.topLeftCorner(kept, kept).diagonal() = first.topLeftCorner(kept, kept).diagonal();
  LuFactor fresh, reused, small;
  copy_into(fresh, A);
  copy_into(reused, first);
  copy_into(small, A.topLeftCorner(lead + fewer, lead + fewer));
  ASSERT_TRUE(fresh.condense(lead, 0));
  ASSERT_TRUE(reused.condense(lead, 0));
  ASSERT_TRUE(small.condense(lead, 0));
  reused.resize(lead + m);
  ASSERT_GE(reused.reusable(), kept);
  for (int i = 0; i < lead + m; ++i) {
    for (int j = i < kept ? kept : 0; j < lead + m; ++j) reused.row(i)[j] = A(i, j);
  }
  ASSERT_TRUE(reused.condense(lead, kept));
  for (int i = 0; i < lead + m; ++i) {
    for (int j = i < lead ? i : 0; j < lead + m; ++j) {
      EXPECT_EQ(fresh.row(i)[j], reused.row(i)[j]) << i << " " << j;
      if (i < lead + fewer && j < lead + fewer) EXPECT_EQ(fresh.row(i)[j], small.row(i)[j]) << i << " " << j;
    }
  }
}

// Without the first of the others, all stand elsewhere among four.
TEST(lu, what_condensed_rows_leave_is_symmetric_and_the_same_wherever_it_stands) {
  std::mt19937 random(7);
  const int lead = 12, m = 11;
  const MatrixX A = positive_matrix(random, lead + m);
  MatrixX B(lead + m - 1, lead + m - 1);
  const auto place = [&](int i) { return i < lead ? i : i + 1; };
  for (int i = 0; i < B.rows(); ++i) {
    for (int j = 0; j < B.cols(); ++j) B(i, j) = A(place(i), place(j));
  }
  LuFactor all, fewer;
  copy_into(all, A);
  copy_into(fewer, B);
  ASSERT_TRUE(all.condense(lead, 0));
  ASSERT_TRUE(fewer.condense(lead, 0));
  for (int i = lead; i < B.rows(); ++i) {
    for (int j = lead; j < B.cols(); ++j) {
      EXPECT_EQ(fewer.row(i)[j], fewer.row(j)[i]) << i << " " << j;
      EXPECT_EQ(fewer.row(i)[j], all.row(i + 1)[j + 1]) << i << " " << j;
    }
  }
}

TEST(lu, factors_go_on_from_condensed_rows) {
  std::mt19937 random(6);
  LuFactor condensed, lu;
  for (int m = 1; m <= 11; ++m) {
    for (int sliding : {0, 1, m / 2}) {
      const int lead = 8, n = lead + m, symmetric = n - sliding;
      const MatrixX A = positive_matrix(random, n);
      copy_into(condensed, A);
      ASSERT_TRUE(condensed.condense(lead, 0));
      lu.resize(n);
      for (int i = 0; i < n; ++i) std::copy(condensed.row(i), condensed.row(i) + n, lu.row(i));
      ASSERT_TRUE(sliding == 0 ? lu.factor_symmetric(lead, lead) : lu.factor_bordered(symmetric, lead, lead));
      const VectorX x = uniform_vector(random, n);
      VectorX y = A * x, z = y;
      lu.solve(y.data());
      lu.solve_transposed(z.data());
      EXPECT_LT((y - x).norm(), 1e-10) << m << " " << sliding;
      EXPECT_LT((z - x).norm(), 1e-10) << m << " " << sliding;
      EXPECT_EQ(lu.determinant_sign(), 1.0);
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
  copy_into(lu, -MatrixX::Identity(5, 5));
  EXPECT_FALSE(lu.condense(4, 0));
}

}  // namespace
}  // namespace articula::testing::lu_test
