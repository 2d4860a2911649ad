#include "articula/model/log_cholesky.hpp"

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include "articula/error.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::log_cholesky_test {
namespace {

InertialVector random_body(std::mt19937& random) {
  // A cloud of point masses is a real body by construction.
  InertialVector pi = InertialVector::Zero();
  for (int i = 0; i < 8; ++i) {
    pi += to_inertial_vector(uniform(random, 0.1, 1.0), uniform_vector(random, 3, 0.5), Matrix3::Zero());
  }
  return pi;
}

TEST(log_cholesky, round_trip_returns_the_body) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const InertialVector pi = random_body(random);
    EXPECT_LT(relative_difference(from_log_cholesky(to_log_cholesky(pi)), pi), 1e-12) << i;
    const LogCholeskyVector numbers = uniform_vector(random, 10, 1.5);
    EXPECT_LT(relative_difference(to_log_cholesky(from_log_cholesky(numbers)), numbers), 1e-11) << i;
  }
}

// The definition, by Eigen's factor: Pi = U U^T with U upper triangular is L L^T with both orders reversed.
TEST(log_cholesky, numbers_are_the_entries_of_the_factor_of_the_pseudo_inertia) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const InertialVector pi = random_body(random);
    Matrix3 I;
    I << pi[4], pi[5], pi[6], pi[5], pi[7], pi[8], pi[6], pi[8], pi[9];
    Eigen::Matrix4d pseudo;
    pseudo << 0.5 * I.trace() * Matrix3::Identity() - I, pi.segment<3>(1), pi.segment<3>(1).transpose(),
        pi[0];
    const Eigen::Matrix4d reversed = pseudo.reverse();
    const Eigen::Matrix4d L = Eigen::LLT<Eigen::Matrix4d>(reversed).matrixL();
    const Eigen::Matrix4d U = L.reverse() / L(0, 0);
    LogCholeskyVector expected;
    expected << std::log(L(0, 0)), std::log(U(0, 0)), std::log(U(1, 1)), std::log(U(2, 2)), U(0, 1), U(1, 2),
        U(0, 2), U(0, 3), U(1, 3), U(2, 3);
    EXPECT_LT(relative_difference(to_log_cholesky(pi), expected), 1e-11) << i;
  }
}

TEST(log_cholesky, any_ten_numbers_are_a_body_the_model_accepts) {
  std::mt19937 random(3);
  const Model model = build(chain_description(1));
  for (int i = 0; i < 2000; ++i) {
    const LogCholeskyVector numbers = uniform_vector(random, 10, uniform(random, 0.0, 5.0));
    EXPECT_NO_THROW(std::ignore = model.with("body/link0/inertia", from_log_cholesky(numbers)))
        << numbers.transpose();
  }
}

TEST(log_cholesky, jacobian_is_that_of_differences) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const LogCholeskyVector numbers = uniform_vector(random, 10, 1.5);
    MatrixX reference(10, 10);
    for (int d = 0; d < 10; ++d) {
      const LogCholeskyVector e = LogCholeskyVector::Unit(d);
      reference.col(d) = ridders([&](double t) -> VectorX { return from_log_cholesky(numbers + t * e); });
    }
    EXPECT_LT(relative_error(log_cholesky_jacobian(numbers), reference), 1e-7) << i;
  }
}

TEST(log_cholesky, bodies_on_the_boundary_are_refused) {
  const Vector3 com(0.1, 0.2, 0.3);
  const auto refused = [&](double mass, const Vector3& moments) {
    const Matrix3 about_com = moments.asDiagonal();
    EXPECT_THROW(std::ignore = to_log_cholesky(to_inertial_vector(mass, com, about_com)), Error)
        << mass << " " << moments.transpose();
  };
  refused(0.0, {0, 0, 0});
  refused(-1.0, {1, 1, 1});
  refused(1.0, {1, 1, 3});  // no real body
  refused(1.0, {-1, 1, 1});
  refused(std::nan(""), {1, 1, 1});
  EXPECT_THROW(std::ignore = to_log_cholesky(to_inertial_vector(1.0, Vector3::Zero(), Matrix3::Zero())),
               Error);
}

}  // namespace
}  // namespace articula::testing::log_cholesky_test
