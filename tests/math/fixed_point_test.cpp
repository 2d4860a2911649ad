#include "articula/math/fixed_point.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_tree.hpp"

namespace articula::testing::fixed_point_test {
namespace {

// x = A x + c with eigenvalues up to 0.95: by itself the error shrinks by 5 % at a time.
TEST(fixed_point, a_slow_linear_map_is_solved_in_a_few_rounds) {
  std::mt19937 random(1);
  const int n = 12;
  const MatrixX Q = MatrixX(MatrixX::NullaryExpr(n, n, [&] { return uniform(random, -1.0, 1.0); }))
                        .householderQr()
                        .householderQ();
  const VectorX rates = VectorX::LinSpaced(n, 0.0, 0.95);
  const MatrixX A = Q * rates.asDiagonal() * Q.transpose();
  const VectorX c = uniform_vector(random, n);
  const VectorX solution = (MatrixX::Identity(n, n) - A).lu().solve(c);
  const auto map = [&](const std::vector<double>& x) {
    const VectorX image = A * Eigen::Map<const VectorX>(x.data(), n) + c;
    return std::vector<double>(image.data(), image.data() + n);
  };
  const auto error = [&](const std::vector<double>& x) {
    return (Eigen::Map<const VectorX>(x.data(), n) - solution).norm() / solution.norm();
  };
  FixedPoint accelerated;
  std::vector<double> x(n, 0.0), plain(n, 0.0);
  for (int round = 0; round < 40; ++round) {
    std::vector<double> next = map(x);
    accelerated.advance(x, next);
    x = next;
    plain = map(plain);
  }
  EXPECT_GT(error(plain), 1e-2);
  EXPECT_LT(error(x), 1e-6);
}

TEST(fixed_point, after_forgetting_the_first_round_is_plain) {
  FixedPoint memory;
  std::vector<double> image = {1.0, 2.0};
  memory.advance({0.0, 0.0}, image);
  memory.forget();
  std::vector<double> next = {0.5, -1.0};
  memory.advance({0.25, 0.0}, next);
  EXPECT_EQ(next, (std::vector<double>{0.5, -1.0}));
}

}  // namespace
}  // namespace articula::testing::fixed_point_test
