// Differences of functions whose derivatives, and whose noise, are known.
#include "articula/derivatives/differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace articula::testing::differences_test {
namespace {

// Where noise is all that tables do not know, sixteen know the derivative four times as well as one, and how
// well they do.
TEST(differences, the_mean_of_tables_has_less_noise_than_each) {
  constexpr double noise = 1e-9, step = 0.1;
  constexpr int trials = 50, tables = 16;
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.0, noise);
  const auto f = [&](double t) -> VectorX {
    return VectorX::Constant(1, std::sin(3.0 * t) + normal(random));
  };
  double of_one = 0.0, of_mean = 0.0;
  int outside = 0;
  for (int i = 0; i < trials; ++i) {
    const Differences one = ridders_differences(f, step, false, noise),
                      mean = mean_of_tables(f, step, tables, false, noise);
    of_one += std::pow(one.derivative[0] - 3.0, 2) / trials;
    of_mean += std::pow(mean.derivative[0] - 3.0, 2) / trials;
    outside += std::abs(mean.derivative[0] - 3.0) > mean.error[0];
  }
  EXPECT_LT(std::sqrt(of_mean), 0.4 * std::sqrt(of_one));
  EXPECT_LE(outside, trials / 10);
}

TEST(differences, to_one_side_look_neither_at_the_other_nor_between) {
  for (const double side : {1.0, -1.0}) {
    const auto f = [&](double t) -> VectorX {
      EXPECT_GT(side * t, 0.0);
      return Vector2(std::exp(3.0 * t), std::cos(5.0 * t + 1.0));
    };
    const Differences found = one_sided_differences(f, 0.01 * side);
    EXPECT_NEAR(found.derivative[0], 3.0, 1e-9);
    EXPECT_NEAR(found.derivative[1], -5.0 * std::sin(1.0), 1e-9);
    EXPECT_LT((found.derivative - Vector2(3.0, -5.0 * std::sin(1.0))).cwiseAbs().maxCoeff(),
              found.error.maxCoeff());
  }
}

}  // namespace
}  // namespace articula::testing::differences_test
