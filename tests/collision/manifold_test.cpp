// What resting shapes stand on: how many points, where, and that order, place and repetition do not matter.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "articula/collision/narrowphase.hpp"
#include "tests/support/convex_oracle.hpp"

namespace articula::testing::manifold_test {
namespace {

using namespace collision;

struct Result {
  ContactPoint points[max_contact_points];
  int count = 0;
};

Result contacts(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                double margin = 0.0) {
  Result r;
  r.count = collide(a, at_a, b, at_b, margin, r.points);
  return r;
}

Mat3 rotation(const Vector3& w) {
  return Mat3::from(Eigen::AngleAxisd(w.norm(), w.norm() > 0 ? Vector3(w.normalized()) : Vector3::UnitX())
                        .toRotationMatrix());
}

Placement at(double x, double y, double z, const Vector3& turned = Vector3::Zero()) {
  return {rotation(turned), Vec3(x, y, z)};
}

TEST(manifold, a_box_face_on_a_plane_gives_its_four_corners) {
  const Result r = contacts(Shape::plane(), {}, Shape::box(0.3, 0.2, 0.1), at(1, 2, 0.09));
  ASSERT_EQ(r.count, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(r.points[i].distance, -0.01, 1e-15);
    EXPECT_NEAR(std::abs(r.points[i].position[0] - 1), 0.3, 1e-15);
    EXPECT_NEAR(std::abs(r.points[i].position[1] - 2), 0.2, 1e-15);
  }
}

TEST(manifold, a_box_lying_on_a_box_stands_on_four_points_with_the_mean_normal) {
  for (const double tilt : {0.0, 1e-9, 1e-4, 5e-3}) {
    const Result r = contacts(Shape::box(1, 1, 0.5), {}, Shape::box(0.3, 0.2, 0.1),
                              at(0.1, 0, 0.598, Vector3(tilt, 0, 0)));
    ASSERT_EQ(r.count, 4) << tilt;
    const Vector3 mean = (Vector3(0, 0, 1) + rotation(Vector3(tilt, 0, 0)).z.eigen()).normalized();
    for (int i = 0; i < 4; ++i) {
      EXPECT_LT((r.points[i].normal.eigen() - mean).norm(), 1e-14);
      EXPECT_NEAR(std::abs(r.points[i].position[0] - 0.1), 0.3, 1e-2);
    }
  }
}

// A square on one like it, turned by an angle: an octagon, whose corners lie in pairs on the edges of both.
// All of them count, or which do would change with the slightest tilt.
TEST(manifold, a_box_turned_on_another_touches_in_all_corners_of_what_they_share) {
  for (const double angle : {0.3, 0.7, 1.2}) {
    for (const double tilt : {0.0, 1e-7, -1e-7, 1e-5}) {
      const Result r = contacts(Shape::box(0.1, 0.1, 0.1), {}, Shape::box(0.1, 0.1, 0.1),
                                at(0, 0, 0.1999, Vector3(tilt, 0, angle)));
      ASSERT_EQ(r.count, 8) << angle << " " << tilt;
      for (int i = 0; i < 8; ++i) {
        const Vector3 p = r.points[i].position.eigen();
        const Vector3 turned = Eigen::AngleAxisd(-angle, Vector3::UnitZ()) * p;
        EXPECT_NEAR(p.head<2>().lpNorm<Eigen::Infinity>(), 0.1, 1e-5);
        EXPECT_NEAR(turned.head<2>().lpNorm<Eigen::Infinity>(), 0.1, 1e-5);
      }
    }
  }
}

TEST(manifold, equal_boxes_exactly_on_each_other_touch_in_four_corners) {
  const Shape box = Shape::box(0.5, 0.5, 0.5);
  const Result r = contacts(box, {}, box, at(0, 0, 1));
  ASSERT_EQ(r.count, 4);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(r.points[i].distance, 0.0, 1e-15);
}

TEST(manifold, a_standing_cylinder_has_rim_points_that_turn_with_it) {
  const Shape cylinder = Shape::cylinder(0.2, 0.3), table = Shape::box(1, 1, 0.1);
  for (const double turn : {0.0, 0.3}) {
    const Placement standing{rotation(Vector3(0, 0, turn)), Vec3(0, 0, 0.399)};
    for (const Result& r :
         {contacts(table, {}, cylinder, standing),
          contacts(Shape::plane(), {Mat3::identity(), Vec3(0, 0, 0.1)}, cylinder, standing)}) {
      ASSERT_EQ(r.count, 4);
      for (int i = 0; i < 4; ++i) {
        const Vector3 local = standing.R.eigen().transpose() * (r.points[i].position - standing.p).eigen();
        EXPECT_NEAR(std::max(std::abs(local[0]), std::abs(local[1])), 0.2, 1e-12);
        EXPECT_NEAR(std::min(std::abs(local[0]), std::abs(local[1])), 0.0, 1e-12);
      }
    }
  }
}

// However little one is beside the other: the smaller the shift, the nearer its corners are to the edges.
// As on a plane: which of a rim's points carry most would change with the slightest tilt.
TEST(manifold, a_cylinder_standing_on_a_face_keeps_its_four_points_however_it_tilts) {
  const Shape cylinder = Shape::cylinder(0.1, 0.2);
  for (const Shape& ground : {Shape::box(1, 1, 0.5), Shape::cylinder(0.3, 0.5)}) {
    const Result level = contacts(ground, {}, cylinder, at(0, 0, 0.7), 0.01);
    ASSERT_EQ(level.count, 4);
    for (int i = 0; i < 60; ++i) {
      const double tilt = std::pow(10.0, -2 - i % 8);
      const Vector3 turn(tilt * std::cos(0.3 * i), tilt * std::sin(0.3 * i), 0.0);
      const Result r = contacts(ground, {}, cylinder, at(0, 0, 0.7, turn), 0.01);
      ASSERT_EQ(r.count, 4) << tilt;
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(r.points[k].feature_a, level.points[k].feature_a) << tilt;
        EXPECT_EQ(r.points[k].feature_b, level.points[k].feature_b) << tilt;
      }
    }
  }
}

TEST(manifold, equal_boxes_hardly_beside_each_other_keep_all_four_corners) {
  const Shape box = Shape::box(0.5, 0.4, 0.3);
  for (double shift = 1e-13; shift < 1e-6; shift *= 1.1) {
    for (const auto& [x, y] : {std::pair{1.0, 0.0}, {1.0, 0.7}, {-0.6, 1.0}, {-1.0, -1.0}, {0.2, -1.0}}) {
      const Result r = contacts(box, {}, box, at(shift * x, shift * y, 0.6001), 1e-3);
      unsigned corners = 0;
      for (int i = 0; i < r.count; ++i) {
        const Vec3 p = r.points[i].position;
        EXPECT_NEAR(std::abs(p[0]), 0.5, 2e-6);
        EXPECT_NEAR(std::abs(p[1]), 0.4, 2e-6);
        corners |= 1u << ((p[0] > 0 ? 1 : 0) + (p[1] > 0 ? 2 : 0));
      }
      EXPECT_EQ(corners, 15u) << shift << " along " << x << ", " << y;
    }
  }
}

TEST(manifold, lying_capsules_and_cylinders_touch_along_their_length) {
  const Vector3 lying(0, M_PI / 2, 0);
  for (const Shape& shape : {Shape::capsule(0.1, 0.4), Shape::cylinder(0.1, 0.4)})
    for (const double height : {0.199, 0.2 - 1e-7}) {
      const Result on_box = contacts(Shape::box(1, 1, 0.1), {}, shape, at(0.1, 0.2, height, lying));
      const Result on_plane = contacts(Shape::plane(), at(0, 0, 0.1), shape, at(0.1, 0.2, height, lying));
      ASSERT_EQ(on_box.count, 2);
      ASSERT_EQ(on_plane.count, 2);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(std::abs(on_box.points[i].position[0] - 0.1), 0.4, 1e-9);
        EXPECT_NEAR(on_box.points[i].distance, height - 0.2, 1e-12);
        EXPECT_NEAR(on_plane.points[i].distance, height - 0.2, 1e-12);
      }
    }
  for (const Shape& a : {Shape::capsule(0.1, 0.4), Shape::cylinder(0.1, 0.4)})
    for (const Shape& b : {Shape::capsule(0.1, 0.3), Shape::cylinder(0.1, 0.3)})
      EXPECT_EQ(contacts(a, at(0, 0, 0, lying), b, at(0.05, 0.01, 0.198, lying)).count, 2);
}

// Distances and points as sets: each of one has its partner in the other.
void expect_same(const Result& a, const Result& b, double sign, const Placement& moved, double noise) {
  ASSERT_EQ(a.count, b.count);
  for (int i = 0; i < a.count; ++i) {
    double best = INFINITY;
    for (int j = 0; j < b.count; ++j)
      best = std::min(best, norm(moved * a.points[i].position - b.points[j].position) +
                                norm(moved.R * a.points[i].normal * sign - b.points[j].normal) +
                                std::abs(a.points[i].distance - b.points[j].distance));
    EXPECT_LT(best, noise) << "point " << i << " of " << a.count;
  }
}

// Where nearly parallel lines cross changes by their length in the least turn; which contacts they
// have must not depend on it, but on how far the normals at their ends are apart: (angle)(length)/(gap).
TEST(manifold, nearly_parallel_lines_touch_at_both_ends_wherever_they_cross) {
  const double angle = 2e-5, half = 1;
  const Mat3 turn = rotation(Vector3(0, 0, angle)), lying = rotation(Vector3(0, M_PI / 2, 0)),
             on_edge = rotation(Vector3(M_PI / 4, 0, 0));
  for (const double shift : {-0.9, -0.5, -0.1, 0.0, 0.3, 0.9})
    for (const double gap : {0.0012, 0.0018, 0.0022, 0.0036}) {
      const int expected = 2 * angle * half / gap > flat_angle ? 1 : 2;
      const Shape box = Shape::box(half, half, half), capsule = Shape::capsule(gap / 2, half);
      const Vec3 over_edge(0, angle * shift, 2 * std::sqrt(2.0) * half + gap),
          over_axis(0, angle * shift, gap);
      EXPECT_EQ(contacts(box, {on_edge, Vec3()}, box, {turn * on_edge, over_edge}, 5e-3).count, expected)
          << "edges, " << shift << " " << gap;
      EXPECT_EQ(contacts(capsule, {lying, Vec3()}, capsule, {turn * lying, over_axis}, 1e-3).count, expected)
          << "capsules, " << shift << " " << gap;
    }
}

TEST(manifold, is_the_same_whatever_the_order_and_wherever_the_scene) {
  Random random(11);
  for (int ta = 0; ta < 7; ++ta)
    for (int tb = std::max(1, ta); tb < 7; ++tb)
      for (int i = 0; i < 60; ++i) {
        const Shape a = random_shape(random, static_cast<ShapeType>(ta), 1.0);
        const Shape b = random_shape(random, static_cast<ShapeType>(tb), 1.0);
        Placement at_a{Mat3::from(random_rotation(random).toRotationMatrix()), Vec3()};
        Placement at_b{Mat3::from(random_rotation(random).toRotationMatrix()), Vec3()};
        Vector3 n = ta == 0 || i % 2 ? Vector3(at_a.R.z.eigen()) : random_direction(random);
        if (i % 3 == 0) at_b.R = at_a.R * rotation(random_direction(random) * 0.01);
        at_b.p = Vec3(Vector3(0.1 * n + 0.1 * random_direction(random)));
        at_b.p += Vec3(Vector3(n * (overlap_along(OracleBody(a, at_a), OracleBody(b, at_b), n) - 0.03)));
        const Result r = contacts(a, at_a, b, at_b);
        expect_same(r, contacts(b, at_b, a, at_a), -1.0, {}, 1e-7);
        const Placement moved{Mat3::from(random_rotation(random).toRotationMatrix()), Vec3(3, -2, 5)};
        expect_same(r, contacts(a, moved * at_a, b, moved * at_b), 1.0, moved, 1e-7);
        const Result again = contacts(a, at_a, b, at_b);
        for (int k = 0; k < r.count; ++k) {
          EXPECT_EQ(std::memcmp(&r.points[k].position, &again.points[k].position, 3 * sizeof(double)), 0);
          EXPECT_EQ(r.points[k].distance, again.points[k].distance);
        }
        if (HasFailure()) GTEST_FAIL() << "pair " << ta << " " << tb << " state " << i;
      }
}

TEST(manifold, a_height_field_carries_balls_on_its_slopes_and_boxes_on_its_peaks) {
  auto field = std::make_shared<HeightField>();
  field->rows = field->columns = 11;
  field->size = {1.0, 1.0, 0.5, 0.1};
  for (int r = 0; r < 11; ++r)
    for (int c = 0; c < 11; ++c) field->elevation.push_back(0.1 * c);  // rises 0.25 per metre along x
  Shape terrain;
  terrain.type = ShapeType::height_field;
  terrain.field = field;
  const Vec3 slope = Vec3(-0.25, 0, 1) * (1 / std::sqrt(1.0625));
  for (const double x : {-0.63, 0.0, 0.21}) {
    const Vec3 foot(x, 0.13, 0.25 + 0.25 * x);
    const Result r = contacts(Shape::sphere(0.2), {Mat3::identity(), foot + slope * 0.19}, terrain, {});
    ASSERT_GE(r.count, 1);
    for (int i = 0; i < r.count; ++i) {
      EXPECT_NEAR(r.points[i].distance, -0.01, 1e-12);
      EXPECT_LT(norm(r.points[i].normal + slope), 1e-12);
    }
  }
  std::fill(field->elevation.begin(), field->elevation.end(), 0.0);
  field->elevation[5 * 11 + 5] = 1.0;  // one peak of 0.5 m in the middle
  const Result r = contacts(Shape::box(0.3, 0.3, 0.1), at(0.05, 0.02, 0.59), terrain, {});
  ASSERT_EQ(r.count, 1);
  EXPECT_NEAR(r.points[0].distance, -0.01, 1e-12);
  EXPECT_LT(norm(r.points[0].normal + Vec3(0, 0, 1)), 1e-12);
}

TEST(manifold, nothing_that_coincides_or_degenerates_is_not_a_number) {
  Random random(4);
  for (int ta = 0; ta < 7; ++ta)
    for (int tb = std::max(1, ta); tb < 7; ++tb) {
      const Shape a = random_shape(random, static_cast<ShapeType>(ta), 1.0);
      const Shape b = ta == tb ? a : random_shape(random, static_cast<ShapeType>(tb), 1.0);
      const Result r = contacts(a, {}, b, {});
      EXPECT_GT(r.count, 0);
      for (int i = 0; i < r.count; ++i) {
        EXPECT_TRUE(r.points[i].position.eigen().allFinite() && std::isfinite(r.points[i].distance));
        EXPECT_NEAR(r.points[i].normal.eigen().norm(), 1.0, 1e-12);
      }
    }
}

}  // namespace
}  // namespace articula::testing::manifold_test
