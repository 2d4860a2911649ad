#include "articula/math/sincos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace articula::testing::sincos_test {
namespace {

// How far `value` is from the exact one, in units of the last place of the exact one.
double units_in_last_place(double value, long double exact) {
  const double rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / unit;
}

double worst_error(const std::vector<double>& angles) {
  const size_t padded = (angles.size() + 3) / 4 * 4;
  std::vector<double> sine(padded), cosine(padded);
  sincos(angles, sine.data(), cosine.data());
  double worst = 0.0;
  for (size_t i = 0; i < angles.size(); ++i) {
    const long double angle = angles[i];
    worst = std::max(worst, units_in_last_place(sine[i], std::sin(angle)));
    worst = std::max(worst, units_in_last_place(cosine[i], std::cos(angle)));
  }
  return worst;
}

std::vector<double> random_angles(double bound) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-bound, bound);
  std::vector<double> angles(40001);  // no multiple of the register's four
  for (double& angle : angles) angle = uniform(random);
  return angles;
}

TEST(sincos, is_exact_to_one_unit_in_the_last_place_for_every_size_of_angle) {
  for (const double bound : {1e-300, 1e-9, 0.1, 1.0, 4.0, 100.0, 1e4, 1e5, 1e6, 1e15, 1e300}) {
    EXPECT_LE(worst_error(random_angles(bound)), 1.0) << "angles up to " << bound;
  }
}

TEST(sincos, is_exact_beside_multiples_of_a_quarter_turn) {
  std::vector<double> angles;
  for (int k = -70000; k <= 70000; k += 7) {
    const double multiple = static_cast<double>(k * (3.14159265358979323846264338327950288L / 2));
    for (const double angle : {multiple, std::nextafter(multiple, 0.0), std::nextafter(multiple, 1e9)}) {
      angles.push_back(angle);
    }
  }
  EXPECT_LE(worst_error(angles), 1.0);
}

TEST(sincos, one_huge_angle_does_not_spoil_its_neighbours) {
  EXPECT_LE(worst_error({0.5, 1e22, -3.0, 1e-5, 2.0, 99999.9, 100000.1}), 1.0);
}

TEST(sincos, what_is_not_finite_stays_so) {
  const std::vector<double> angles{INFINITY, std::nan(""), -INFINITY, 1.0};
  std::vector<double> sine(4), cosine(4);
  sincos(angles, sine.data(), cosine.data());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(sine[i]));
    EXPECT_TRUE(std::isnan(cosine[i]));
  }
  EXPECT_EQ(sine[3], std::sin(1.0));
}

}  // namespace
}  // namespace articula::testing::sincos_test
