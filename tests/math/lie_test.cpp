#include "articula/math/lie.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/differences.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::lie_test {
namespace {

using std::numbers::pi;

Quaternion eigen(const Quat& q) { return {q.w, q.v[0], q.v[1], q.v[2]}; }
Quat from(const Quaternion& q) { return {q.w(), Vec3(q.x(), q.y(), q.z())}; }

// Angles over all scales, on both sides of where series take over from closed forms.
const double angles[] = {0.0, 1e-12, 1e-9, 1e-5, 0.0099, 0.0101, 0.3, 1.0, 2.0, 3.1, pi - 1e-6, pi - 1e-12};

template <class Check>
void for_each_rotation_vector(Check check) {
  std::mt19937 random(2);
  for (const double angle : angles) {
    for (int i = 0; i < 20; ++i) check(Vector3(random_direction(random) * angle));
  }
}

TEST(rotations, exp_is_the_rotation_about_the_vector_by_its_length) {
  for_each_rotation_vector([](const Vector3& d) {
    const double angle = d.norm();
    const Quaternion expected =
        angle == 0.0 ? Quaternion::Identity() : Quaternion(Eigen::AngleAxisd(angle, d / angle));
    EXPECT_LT((eigen(exp_rotation(Vec3(d))).coeffs() - expected.coeffs()).norm(), 1e-15);
  });
}

TEST(rotations, log_undoes_exp_up_to_half_a_turn) {
  for_each_rotation_vector([](const Vector3& d) {
    const Quat q = exp_rotation(Vec3(d));
    const Quat opposite{-q.w, -q.v};  // the same rotation
    EXPECT_LT((log_rotation(q).eigen() - d).norm(), 4e-16 * (1.0 + d.norm()));
    EXPECT_LT((log_rotation(opposite).eigen() - d).norm(), 4e-16 * (1.0 + d.norm()));
  });
}

TEST(rotations, log_takes_the_shorter_way_round) {
  EXPECT_LT((log_rotation(exp_rotation(Vec3(0, 0, 2 * pi - 0.5))).eigen() - Vector3(0, 0, -0.5)).norm(),
            1e-15);
}

TEST(rotations, matrix_and_products_agree_with_eigen) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const Quaternion a = random_rotation(random), b = random_rotation(random);
    EXPECT_LT((rotation_matrix(from(a)).eigen() - a.toRotationMatrix()).norm(), 1e-15);
    EXPECT_LT((eigen(from(a) * from(b)).coeffs() - (a * b).coeffs()).norm(), 1e-15);
    const Vector3 axis = random_direction(random);
    const double angle = uniform(random, -pi, pi);
    EXPECT_LT((rotation_about(Vec3(axis), std::sin(angle), std::cos(angle)).eigen() -
               Eigen::AngleAxisd(angle, axis).toRotationMatrix())
                  .norm(),
              2e-15);
  }
}

TEST(rotations, quaternions_are_normalised_when_read_and_zero_is_no_rotation) {
  const double scaled[] = {0.0, 0.0, -30.0, 40.0}, zero[] = {0.0, 0.0, 0.0, 0.0};
  EXPECT_LT((eigen(load_quaternion(scaled)).coeffs() - Eigen::Vector4d(0, -0.6, 0.8, 0)).norm(), 1e-16);
  EXPECT_EQ(load_quaternion(zero).w, 1.0);
}

// log(exp(d)^-1 exp(d + t e)) has the derivative Jr(d) e at t = 0.
TEST(rotations, right_jacobian_is_the_derivative_of_exp) {
  for_each_rotation_vector([](const Vector3& d) {
    const Quat back = conjugate(exp_rotation(Vec3(d)));
    const MatrixX expected = ridders_jacobian(
        [&](const VectorX& e) -> VectorX {
          return log_rotation(back * exp_rotation(Vec3(Vector3(d + e)))).eigen();
        },
        Vector3::Zero());
    EXPECT_LT((right_jacobian(Vec3(d)).eigen() - expected).norm(), 1e-10) << "angle " << d.norm();
  });
}

TEST(rotations, inverse_right_jacobian_inverts_it) {
  for_each_rotation_vector([](const Vector3& d) {
    const Mat3 product = right_jacobian(Vec3(d)) * inverse_right_jacobian(Vec3(d));
    EXPECT_LT((product.eigen() - Matrix3::Identity()).norm(), 2e-13) << "angle " << d.norm();
  });
}

}  // namespace
}  // namespace articula::testing::lie_test
