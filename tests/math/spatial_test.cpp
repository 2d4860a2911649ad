#include "articula/math/spatial.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_tree.hpp"

namespace articula::testing::spatial_test {
namespace {

Vector3 random_vector(std::mt19937& random) { return uniform_vector(random, 3); }
Motion random_motion(std::mt19937& random) {
  return {Vec3(random_vector(random)), Vec3(random_vector(random))};
}

TEST(vec3, products_agree_with_eigen_and_keep_the_fourth_lane_zero) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const Vector3 a = random_vector(random), b = random_vector(random);
    const Matrix3 A = uniform_vector(random, 9).reshaped(3, 3), B = uniform_vector(random, 9).reshaped(3, 3);
    const Mat3 mat_a = Mat3::from(A), mat_b = Mat3::from(B);
    const auto expect = [](const Vec3& got, const Vector3& expected) {
      EXPECT_LT((got.eigen() - expected).norm(), 1e-15);
      EXPECT_EQ(got.lanes[3], 0.0);
    };
    const auto expect_matrix = [&](const Mat3& got, const Matrix3& expected) {
      for (int c = 0; c < 3; ++c) expect(got.column(c), expected.col(c));
    };
    expect(cross(Vec3(a), Vec3(b)), a.cross(b));
    expect(mat_a * Vec3(b), A * b);
    expect(transpose_times(mat_a, Vec3(b)), A.transpose() * b);
    expect_matrix(mat_a * mat_b, A * B);
    expect_matrix(transpose(mat_a), A.transpose());
    expect_matrix(outer(Vec3(a), Vec3(b)), a * b.transpose());

    expect(skew(Vec3(a)) * Vec3(b), a.cross(b));
    expect_matrix(cross(Vec3(a), mat_b), skew(Vec3(a)).eigen() * B);
    EXPECT_NEAR(dot(Vec3(a), Vec3(b)), a.dot(b), 1e-15);
    EXPECT_NEAR(trace(mat_a), A.trace(), 1e-15);
  }
}

// d/dt of a power is zero when both move with the same body: (v x m) . f + m . (v x* f) = 0.
TEST(spatial, cross_products_of_motions_and_forces_are_dual) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const Motion v = random_motion(random), m = random_motion(random);
    const Force f{Vec3(random_vector(random)), Vec3(random_vector(random))};
    EXPECT_NEAR(dot(cross(v, m), f), -dot(m, cross(v, f)), 1e-14);
  }
}

struct PointMasses {
  std::vector<double> mass;
  std::vector<Vector3> at;

  explicit PointMasses(std::mt19937& random) {
    for (int i = 0; i < 7; ++i) {
      mass.push_back(uniform(random, 0.1, 2.0));
      at.push_back(random_vector(random));
    }
  }

  // The definition: sums over the points.
  Inertia inertia() const {
    Matrix3 rotational = Matrix3::Zero();
    Vector3 moment = Vector3::Zero();
    double total = 0.0;
    for (size_t i = 0; i < mass.size(); ++i) {
      rotational += mass[i] * (at[i].squaredNorm() * Matrix3::Identity() - at[i] * at[i].transpose());
      moment += mass[i] * at[i];
      total += mass[i];
    }
    return {Mat3::from(rotational), Vec3(moment), total};
  }
};

TEST(spatial, a_placed_inertia_is_the_inertia_of_the_placed_point_masses) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    PointMasses points(random);
    const Inertia body = points.inertia();
    const Matrix3 R = random_rotation(random).toRotationMatrix();
    const Vector3 r = uniform_vector(random, 3, 5.0);
    for (Vector3& point : points.at) point = r + R * point;
    const Inertia expected = points.inertia();
    const Inertia got = placed(body, Mat3::from(R), Vec3(r));
    EXPECT_NEAR(got.mass, expected.mass, 1e-14);
    EXPECT_LT((got.moment - expected.moment).eigen().norm(), 1e-13);
    EXPECT_LT(relative_difference(got.rotational.eigen(), expected.rotational.eigen()), 1e-14);
  }
}

TEST(spatial, inertia_times_motion_is_the_momentum_of_the_point_masses) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const PointMasses points(random);
    const Motion v = random_motion(random);
    Vector3 linear = Vector3::Zero(), angular = Vector3::Zero();
    double energy = 0.0;
    for (size_t k = 0; k < points.at.size(); ++k) {
      const Vector3 velocity = v.linear.eigen() + v.angular.eigen().cross(points.at[k]);
      linear += points.mass[k] * velocity;
      angular += points.mass[k] * points.at[k].cross(velocity);
      energy += 0.5 * points.mass[k] * velocity.squaredNorm();
    }
    const Force momentum = points.inertia() * v;
    EXPECT_LT((momentum.linear.eigen() - linear).norm(), 1e-13);
    EXPECT_LT((momentum.moment.eigen() - angular).norm(), 1e-13);
    EXPECT_NEAR(0.5 * dot(v, momentum), energy, 1e-13);
  }
}

}  // namespace
}  // namespace articula::testing::spatial_test
