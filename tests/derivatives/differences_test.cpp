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

}  // namespace
}  // namespace articula::testing::differences_test
