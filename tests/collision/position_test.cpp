// Where contacts act, and how that follows a gap on its way from rest to flight.

#include <gtest/gtest.h>

#include "articula/collision/derivatives.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::position_test {
namespace {

using namespace collision;

Placement tilted(double angle, Vec3 at) {
  return {Mat3::from(Eigen::AngleAxisd(angle, Vector3(1.0, 0.7, 0.0).normalized()).toRotationMatrix()), at};
}

TEST(position, a_box_at_rest_acts_in_the_face_it_stands_on_and_a_falling_one_with_its_corners) {
  const Shape ground = Shape::plane(), box = Shape::box(0.1, 0.08, 0.05);
  for (const double height : {0.0, 0.02}) {
    ContactPoint points[max_contact_points];
    const int count = collide(ground, {}, box, tilted(1e-5, {0, 0, 0.05 + height}), 0.05, points);
    ASSERT_EQ(count, 4);
    for (const ContactPoint& c : points)
      EXPECT_NEAR(c.position[2], height > 0.0 ? c.distance : 0.0, height > 0.0 ? 4e-4 : 1e-15);
  }
}

TEST(position, a_roller_acts_at_its_own_radius_on_either_side_of_a_pair) {
  const double r = 0.1;
  const Placement lying = tilted(1e-4, {0, 0, r});
  const Placement at{
      lying.R * Mat3::from(Eigen::AngleAxisd(1.5707963267948966, Vector3::UnitX()).toRotationMatrix()),
      lying.p};
  const Shape grounds[] = {Shape::plane(), Shape::box(1, 1, 0.5)};
  for (const Shape& ground : grounds) {
    const Placement below{Mat3::identity(), {0, 0, ground.type == ShapeType::box ? -0.5 : 0.0}};
    for (const Shape& roller : {Shape::cylinder(r, 0.05), Shape::capsule(r, 0.05)}) {
      for (const bool first : {false, true}) {
        ContactPoint points[max_contact_points];
        const int count = first ? collide(roller, at, ground, below, 0.01, points)
                                : collide(ground, below, roller, at, 0.01, points);
        ASSERT_EQ(count, 2);
        EXPECT_GT(std::abs(points[0].distance - points[1].distance), 1e-6);
        for (int i = 0; i < count; ++i) {
          const Vec3 arm = points[i].position - at.p;
          EXPECT_NEAR(norm(arm - at.R.z * dot(at.R.z, arm)), r, 1e-9);
        }
      }
    }
  }
}

// What is found beside a point depends on how far one looks, and so on how fast bodies move.
TEST(position, of_a_roller_does_not_depend_on_whether_its_other_end_is_found) {
  for (const Shape& ground : {Shape::plane(), Shape::box(1, 1, 0.5)}) {
    const Placement below{Mat3::identity(), {0, 0, ground.type == ShapeType::box ? -0.5 : 0.0}};
    for (const Shape& roller : {Shape::cylinder(0.1, 0.2), Shape::capsule(0.1, 0.2)}) {
      for (const double tilt : {1e-3, 4e-3, 1e-2, 3e-2, 0.1}) {
        const Placement at{
            Mat3::from(Eigen::AngleAxisd(1.5707963267948966 - tilt, Vector3::UnitX()).toRotationMatrix()),
            {0, 0, 0.1 + 0.2 * tilt + 1.5e-3}};
        ContactPoint all[max_contact_points], near[max_contact_points];
        const int many = collide(ground, below, roller, at, 0.1, all);
        if (ground.type == ShapeType::box && tilt > 0.02) continue;  // it meets a box on one end
        ASSERT_EQ(many, 2);
        const double between = 0.5 * (all[0].distance + all[1].distance);
        ASSERT_EQ(collide(ground, below, roller, at, between, near), 1);
        const ContactPoint& same = all[0].distance < all[1].distance ? all[0] : all[1];
        ASSERT_EQ(same.feature_b, near[0].feature_b);
        EXPECT_LT(norm(same.position - near[0].position), 1e-12) << tilt;
      }
    }
  }
}

// Capsules of two radii, linked end to end, lie tilted by the difference: at a round number of millimetres
// nothing may jump.
TEST(position, of_a_roller_does_not_jump_where_its_ends_differ_by_whole_millimetres) {
  const Shape ground = Shape::plane(), link = Shape::capsule(0.01, 0.075);
  for (int millimetres = 1; millimetres <= 6; ++millimetres) {
    for (const double unit : {1e-3, 0.5e-3, 1e-3 / 3.0}) {
      const double tilt = std::asin(millimetres * unit / 0.15);
      Vec3 positions[2];
      for (const int side : {0, 1}) {
        const double angle = tilt + (side == 0 ? -1e-9 : 1e-9);
        const Placement at{
            Mat3::from(Eigen::AngleAxisd(1.5707963267948966 - angle, Vector3::UnitX()).toRotationMatrix()),
            {0, 0, 0.01 + 0.075 * std::sin(tilt) + 1e-5}};
        ContactPoint points[max_contact_points];
        ASSERT_GE(collide(ground, {}, link, at, 1e-4, points), 1);
        positions[side] = points[0].position;
      }
      EXPECT_LT(norm(positions[1] - positions[0]), 1e-8) << millimetres << " " << unit;
    }
  }
}

TEST(position, faces_that_meet_act_halfway) {
  const Shape box = Shape::box(0.1, 0.08, 0.05), table = Shape::box(1, 1, 0.5);
  ContactPoint points[max_contact_points];
  const int count =
      collide(table, {Mat3::identity(), {0, 0, -0.5}}, box, tilted(1e-5, {0, 0, 0.051}), 0.01, points);
  ASSERT_EQ(count, 4);
  for (const ContactPoint& c : points) EXPECT_NEAR(c.position[2], 0.5 * c.distance, 1e-9);
}

// Between rest and flight the position runs from the face to the body.
TEST(position, follows_the_gap_as_differences_say) {
  const Shape ground = Shape::box(1, 1, 0.5), mesh = Shape::box(0.1, 0.08, 0.05);
  for (const Shape& body : {Shape::sphere(0.05), Shape::ellipsoid(0.05, 0.04, 0.05), mesh}) {
    for (const double gap : {-2e-3, 1e-6, 7e-4, 1e-3, 2e-3, 8e-3}) {
      const Placement below = tilted(0.0, {0, 0, -0.5});
      const auto placed = [&](double t) { return tilted(0.3 + 0.2 * t, {0.1 + 0.3 * t, 0.2 * t, gap + t}); };
      // At rest on its lowest point.
      const Distance lowest = distance(ground, below, body, tilted(0.3, {0.1, 0, 0}));
      const auto at = [&](double t) {
        Placement p = placed(t);
        p.p = p.p - Vec3(0, 0, lowest.distance);
        return p;
      };
      ContactPoint points[max_contact_points];
      ASSERT_EQ(collide(ground, below, body, at(0.0), 0.01, points), 1);
      const ContactPoint now = points[0];
      const VectorX reference = ridders(
          [&](double t) {
            ContactPoint there[max_contact_points];
            collide(ground, below, body, at(t), 0.01, there);
            return VectorX(there[0].position.eigen());
          },
          1e-5);
      const ContactDerivatives d =
          about(differentiate(ground, below, body, at(0.0), now), now.position, below.p, at(0.0).p);
      const Vector3 turn = 0.2 * Vector3(1.0, 0.7, 0.0).normalized(), shift(0.3, 0.2, 1.0);
      Vec3 along;
      for (int i = 0; i < 3; ++i)
        along += d.motion[6 + i].position * turn[i] + d.motion[9 + i].position * shift[i];
      EXPECT_LT((along.eigen() - reference).norm(), 1e-7 * reference.norm()) << gap;
    }
  }
}

}  // namespace
}  // namespace articula::testing::position_test
