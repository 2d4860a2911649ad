// What swings fast has contacts where it will come down, not only where it is nearest now.
#include <gtest/gtest.h>

#include "articula/collision/narrowphase.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing::reach_points_test {
namespace {

using namespace collision;

Mat3 about_y(double angle) {
  return Mat3::from(Eigen::AngleAxisd(angle, Vector3::UnitY()).toRotationMatrix());
}

// A capsule along x over a box, tilted by 0.1 rad: the far end is 0.04 m higher than the near one.
TEST(reach_points, both_ends_of_a_tilted_capsule_are_seen_by_a_fast_step) {
  const Shape capsule = Shape::capsule(0.02, 0.2), box = Shape::box(0.5, 0.5, 0.1);
  const Placement at_box{about_y(0.0), Vec3()}, at_capsule{about_y(M_PI / 2 + 0.1), Vec3(0, 0, 0.15)};
  ContactPoint points[max_contact_points];
  EXPECT_EQ(collide(capsule, at_capsule, box, at_box, 1e-3 + 0.011, points), 1);
  const int count = collide(capsule, at_capsule, box, at_box, 0.06, points);
  ASSERT_EQ(count, 2);
  for (int k = 0; k < 2; ++k) {
    const double z = 0.15 + (points[k].position[0] > 0 ? -1 : 1) * 0.2 * std::sin(0.1) - 0.02;
    EXPECT_NEAR(points[k].distance, z - 0.1, 1e-12);
    EXPECT_NEAR(std::abs(points[k].normal[2]), 1.0, 1e-12);
  }
}

// Two bars that cross at one end of theirs, nearly parallel: the other ends are within reach.
TEST(reach_points, corners_of_boxes_are_seen_by_a_fast_step) {
  const Shape bar = Shape::box(0.2, 0.01, 0.01);
  const Mat3 tilt = Mat3::from(Eigen::AngleAxisd(0.05, Vector3::UnitY()).toRotationMatrix() *
                               Eigen::AngleAxisd(0.7, Vector3::UnitX()).toRotationMatrix());
  const Placement at_a{about_y(0.0), Vec3()}, at_b{tilt, Vec3(0, 0, 0.036)};
  ContactPoint slow[max_contact_points], fast[max_contact_points];
  const int few = collide(bar, at_a, bar, at_b, 1e-3, slow);
  const int many = collide(bar, at_a, bar, at_b, 0.03, fast);
  EXPECT_GT(many, few);
  const Distance nearest = distance(bar, at_a, bar, at_b);
  for (int k = 0; k < many; ++k) EXPECT_GE(fast[k].distance, nearest.distance - 1e-12);
}

// Crossed capsules that hardly tilt: the ends of both are within reach.
TEST(reach_points, ends_of_both_capsules_are_seen) {
  const Shape capsule = Shape::capsule(0.02, 0.2), longer = Shape::capsule(0.02, 0.25);
  const Mat3 lying = about_y(M_PI / 2);
  const Mat3 crossed =
      Mat3::from(Eigen::AngleAxisd(0.3, Vector3::UnitZ()).toRotationMatrix() * lying.eigen());
  for (const Shape& other : {capsule, longer}) {
    ContactPoint points[max_contact_points];
    const int count = collide(capsule, {lying, Vec3()}, other, {crossed, Vec3(0, 0, 0.05)}, 0.1, points);
    int ends_a = 0, ends_b = 0;
    for (int k = 0; k < count; ++k) {
      ends_a += points[k].feature_a.kind == FeatureKind::point ? 1 : 0;
      ends_b += points[k].feature_b.kind == FeatureKind::point ? 1 : 0;
    }
    EXPECT_EQ(count, usual_contact_points);
    EXPECT_GE(ends_a, 1);
    EXPECT_GE(ends_b, 1);
  }
}

// The two features of a contact are its identity: no two contacts of a pair have the same.
TEST(reach_points, no_contact_comes_twice) {
  Random random(71);
  for (const ShapeType type : {ShapeType::box, ShapeType::capsule, ShapeType::cylinder, ShapeType::mesh})
    for (int i = 0; i < 2000; ++i) {
      const Shape a = random_shape(random, ShapeType::capsule, 0.5), b = random_shape(random, type, 0.5);
      const Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                         Vec3(Vector3(random_direction(random) * uniform(random, 0.1, 1.0)))};
      ContactPoint points[max_contact_points];
      const int count = collide(a, {}, b, at, 0.05, points);
      for (int k = 0; k < count; ++k)
        for (int j = 0; j < k; ++j)
          EXPECT_FALSE(points[k].feature_a == points[j].feature_a &&
                       points[k].feature_b == points[j].feature_b)
              << static_cast<int>(type) << " " << i;
    }
}

TEST(reach_points, order_of_the_shapes_does_not_matter) {
  Random random(3);
  for (int i = 0; i < 600; ++i) {
    const bool boxes = i % 2 == 0, twins = i % 3 == 0;
    const Shape a = boxes ? Shape::box(0.2, 0.03, 0.05) : Shape::capsule(0.02, 0.2);
    const Shape b = twins ? a : boxes ? Shape::box(0.1, 0.06, 0.02) : Shape::capsule(0.03, 0.1);
    const Placement at_a{Mat3::from(random_rotation(random).toRotationMatrix()), Vec3()};
    Placement at_b{Mat3::from(random_rotation(random).toRotationMatrix()),
                   Vec3(Vector3(0.5 * random_direction(random)))};
    const Distance away = distance(a, at_a, b, at_b);
    at_b.p -= away.normal * (away.distance - 1e-3);
    ContactPoint one[max_contact_points], other[max_contact_points];
    const int count = collide(a, at_a, b, at_b, 0.05, one);
    ASSERT_EQ(collide(b, at_b, a, at_a, 0.05, other), count);
    for (int k = 0; k < count; ++k) {
      EXPECT_LT(norm(one[k].position - other[k].position), 1e-12);
      EXPECT_LT(norm(one[k].normal + other[k].normal), 1e-12);
    }
  }
}

}  // namespace
}  // namespace articula::testing::reach_points_test
