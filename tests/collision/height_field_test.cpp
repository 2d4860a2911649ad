// Height fields: distances against the prisms under their triangles, and contacts of flat ground.
// ARTICULA_FULL=1 runs the acceptance sizes.

#include <gtest/gtest.h>

#include "articula/collision/narrowphase.hpp"
#include "tests/support/convex_oracle.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing::height_field_test {
namespace {

using namespace collision;

constexpr int grid = 7;

Vector3 corner(const HeightField& f, int r, int c) {
  const double half = f.size[0], step = 2 * half / (grid - 1);
  return {-half + c * step, -half + r * step,
          f.size[2] * f.elevation[static_cast<std::size_t>(r * grid + c)]};
}

// What lies below one triangle.
Shape prism(const Vector3& a, const Vector3& b, const Vector3& c, double half) {
  const Vector3 down(0, 0, -2 * half);
  return Shape::mesh(std::make_shared<const Hull>(
      make_hull({a, b, c, a + down, b + down, c + down},
                {{0, 1, 2}, {3, 5, 4}, {0, 3, 1}, {1, 3, 4}, {1, 4, 2}, {2, 4, 5}, {2, 5, 0}, {0, 5, 3}})));
}

std::vector<Shape> prisms(const HeightField& f) {
  std::vector<Shape> list;
  for (int r = 0; r + 1 < grid; ++r)
    for (int c = 0; c + 1 < grid; ++c) {
      list.push_back(prism(corner(f, r, c), corner(f, r, c + 1), corner(f, r + 1, c), f.size[0]));
      list.push_back(prism(corner(f, r + 1, c + 1), corner(f, r + 1, c), corner(f, r, c + 1), f.size[0]));
    }
  return list;
}

// The nearest (deepest) of the prisms.
struct Nearest {
  Distance distance;
  const Shape* prism = nullptr;
};
Nearest nearest_prism(const std::vector<Shape>& list, const Placement& at_field, const Shape& shape,
                      const Placement& at) {
  Nearest least;
  for (const Shape& p : list) {
    const Distance d = distance(shape, at, p, at_field);
    if (!least.prism || d.distance < least.distance.distance) least = {d, &p};
  }
  return least;
}

struct Scene {
  Shape shape, field;
  Placement at, at_field;
};

// A shape above the middle of a field of half width 1.5 that may lie anywhere, all times `scale`.
Scene random_scene(Random& random, ShapeType type, double scale) {
  Scene s{random_shape(random, type, 0.35 * scale),
          random_terrain(random, grid, 1.5 * scale, 0.5 * scale),
          {},
          {}};
  s.at_field = {Mat3::from(random_rotation(random).toRotationMatrix()),
                Vec3(Vector3(random_direction(random) * scale))};
  s.at = s.at_field * Placement{Mat3::from(random_rotation(random).toRotationMatrix()),
                                Vec3(uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5), 1.2) * scale};
  return s;
}

constexpr ShapeType bounded[] = {ShapeType::sphere,   ShapeType::capsule,   ShapeType::box,
                                 ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh};

// Where the shape goes: up into the air; down until it nearly touches, overlaps by a little, or sinks; beside
// the field, near its walls.
enum class Kind { far, near, touching, deep, sunk, beside, kinds };

void place(Scene& s, Kind kind, const std::vector<Shape>& list, double scale, Random& random) {
  const Vec3 up = s.at_field.R.z;
  if (kind == Kind::beside)
    s.at.p = s.at_field *
             (Vec3(uniform(random, 1.3, 2.5), uniform(random, -2, 2), uniform(random, -1, 0.5)) * scale);
  if (kind == Kind::beside) return;
  const double gap = nearest_prism(list, s.at_field, s.shape, s.at).distance.distance;
  const double way = kind == Kind::far        ? -log_uniform(random, 1e-3, 1e3) * scale
                     : kind == Kind::near     ? gap * uniform(random, 0, 1)
                     : kind == Kind::touching ? gap - log_uniform(random, 1e-12, 1e-3) * scale
                     : kind == Kind::deep     ? gap + log_uniform(random, 1e-4, 0.2) * scale
                                              : gap + uniform(random, 0, 1) * scale;
  s.at.p -= up * way;
}

TEST(height_field, is_as_far_as_the_nearest_prism_under_its_triangles) {
  Random random(31);
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(60, 10000); ++i) {
      const double scale = log_uniform(random, 1e-3, 1e3);
      Scene s = random_scene(random, type, scale);
      const std::vector<Shape> list = prisms(*s.field.field);
      place(s, static_cast<Kind>(i % static_cast<int>(Kind::kinds)), list, scale, random);
      const double reference = nearest_prism(list, s.at_field, s.shape, s.at).distance.distance;
      const Distance d = distance(s.shape, s.at, s.field, s.at_field);
      const double noise = 64 * 2.2e-16 * std::max(norm(s.at.p), norm(s.at_field.p));
      const bool flat = type == ShapeType::box || type == ShapeType::mesh;
      EXPECT_NEAR(d.distance, reference, (flat ? 1e-10 : 1e-8) * scale + noise)
          << static_cast<int>(type) << " " << i;
      EXPECT_LT(norm(d.point_b - d.point_a - d.normal * d.distance), 1e-12 * scale + noise);
      EXPECT_NEAR(distance(s.field, s.at_field, s.shape, s.at).distance, d.distance, 1e-14 * scale + noise);
    }
}

// The reference above is the library's own distance of convex shapes. Here an oracle searches the ways out of
// the deepest prism, and sees that no other one is deeper.
TEST(height_field, overlaps_agree_with_an_independent_search) {
  Random random(37);
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(8, 400); ++i) {
      Scene s = random_scene(random, type, 1.0);
      const std::vector<Shape> list = prisms(*s.field.field);
      place(s, i % 2 ? Kind::deep : Kind::sunk, list, 1.0, random);
      const Distance d = distance(s.shape, s.at, s.field, s.at_field);
      const Nearest deepest = nearest_prism(list, s.at_field, s.shape, s.at);
      const double accuracy = type == ShapeType::box || type == ShapeType::mesh ? 1e-10 : 1e-8;
      EXPECT_LT(distance_error(s.shape, s.at, *deepest.prism, s.at_field, d, random, 2000), 4 * accuracy)
          << static_cast<int>(type) << " " << i;
      const OracleBody body(s.shape, s.at);
      for (const Shape& p : list) {
        // A gap along any direction is less than the distance.
        const Vector3 n = distance(s.shape, s.at, p, s.at_field).normal.eigen();
        EXPECT_GE(-overlap_along(body, OracleBody(p, s.at_field), n), d.distance - accuracy);
      }
    }
}

TEST(height_field, contacts_are_as_deep_as_the_deepest_overlap) {
  Random random(41);
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(60, 3000); ++i) {
      Scene s = random_scene(random, type, 1.0);
      place(s,
            i % 3 == 0   ? Kind::beside
            : i % 3 == 1 ? Kind::deep
                         : Kind::sunk,
            prisms(*s.field.field), 1.0, random);
      const Distance d = distance(s.shape, s.at, s.field, s.at_field);
      ContactPoint points[max_contact_points];
      const int count = collide(s.shape, s.at, s.field, s.at_field, 0.01, points);
      double least = INFINITY;
      for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
      EXPECT_LE(least, d.distance < 0.01 ? d.distance + 1e-9 : INFINITY)
          << static_cast<int>(type) << " " << i;
      EXPECT_TRUE(count > 0 || d.distance >= 0.01) << static_cast<int>(type) << " " << i;
    }
}

// Triangles beside each other do not let a corner out between them: on level ground it is as deep as in a
// plane.
TEST(height_field, level_ground_is_a_plane) {
  Random random(43);
  const Shape field = random_terrain(random, grid, 1.5, 0.0), plane = Shape::plane();
  for (const ShapeType type : {ShapeType::box, ShapeType::mesh, ShapeType::sphere, ShapeType::capsule})
    for (int i = 0; i < cases(200, 5000); ++i) {
      const Shape shape = random_shape(random, type, 0.35);
      Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                   Vec3(uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5), 1.2)};
      at.p -= Vec3(0, 0, distance(plane, {}, shape, at).distance + uniform(random, 0, 0.05));
      ContactPoint points[max_contact_points];
      const int count = collide(shape, at, field, {}, 0.0, points);
      double least = INFINITY;
      for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
      EXPECT_NEAR(least, distance(plane, {}, shape, at).distance, 1e-12)
          << static_cast<int>(type) << " " << i;
    }
}

TEST(height_field, a_ball_beside_it_meets_its_wall) {
  Random random(47);
  const Shape field = random_terrain(random, grid, 1.5, 0.5), ball = Shape::sphere(0.1);
  const Placement at{Mat3::identity(), Vec3(1.58, 0.07, -0.3)};
  ContactPoint points[max_contact_points];
  ASSERT_GE(collide(ball, at, field, {}, 0.0, points), 1);
  EXPECT_NEAR(points[0].distance, -0.02, 1e-12);
  EXPECT_NEAR(points[0].normal[0], -1.0, 1e-12);
  EXPECT_NEAR(distance(ball, {Mat3::identity(), Vec3(0.2, -2.0, -0.3)}, field, {}).distance, 0.4, 1e-12);
}

// More peaks under a plate than contacts are collected at once: the deepest of them is kept.
TEST(height_field, the_highest_of_many_peaks_carries) {
  auto field = std::make_shared<HeightField>();
  field->rows = field->columns = 81;
  field->size = {2, 2, 0.1, 0.1};
  for (int i = 0; i < 81 * 81; ++i) field->elevation.push_back((i / 81 + i % 81) % 2 ? 0.0 : 0.5);
  field->elevation[static_cast<std::size_t>(60 * 81 + 58)] = 0.6;
  Shape ground;
  ground.type = ShapeType::height_field;
  ground.field = field;
  const Shape plate = Shape::box(1.5, 1.5, 0.1);
  ContactPoint points[max_contact_points];
  const int count = collide(plate, {Mat3::identity(), Vec3(0, 0, 0.155)}, ground, {}, 0.02, points);
  ASSERT_GE(count, 3);
  double least = INFINITY;
  for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
  EXPECT_NEAR(least, -0.005, 1e-12);
}

TEST(height_field, flat_ground_carries_a_box_at_its_four_corners) {
  Random random(33);
  const Shape field = random_terrain(random, grid, 1.5, 0.0), box = Shape::box(0.4, 0.3, 0.2);
  const Placement at{Mat3::identity(), Vec3(0.07, -0.11, 0.199)};
  ContactPoint points[max_contact_points];
  ASSERT_EQ(collide(box, at, field, {}, 0.0, points), 4);
  for (const ContactPoint& p : points) {
    EXPECT_NEAR(p.distance, -0.001, 1e-12);
    EXPECT_NEAR(std::abs(p.position[0] - 0.07), 0.4, 1e-12);
    EXPECT_NEAR(std::abs(p.position[1] + 0.11), 0.3, 1e-12);
  }
}

// Beyond the rim the ground falls off: what hangs over it rests on the rim, not only on the corners inside.
TEST(height_field, a_box_that_hangs_over_the_rim_rests_on_it) {
  Random random(33);
  const Shape field = random_terrain(random, grid, 1.5, 0.0), box = Shape::box(0.4, 0.3, 0.2);
  const Placement at{Mat3::identity(), Vec3(1.4, -0.11, 0.199)};
  ContactPoint points[max_contact_points];
  const int count = collide(box, at, field, {}, 0.0, points);
  ASSERT_GE(count, 3);
  double farthest = 0;
  for (int i = 0; i < count; ++i) {
    EXPECT_NEAR(points[i].distance, -0.001, 1e-12);
    EXPECT_GT(std::abs(points[i].normal[2]), 1 - 1e-12);
    farthest = std::max(farthest, points[i].position[0]);
  }
  EXPECT_NEAR(farthest, 1.5, 1e-12);
}

}  // namespace
}  // namespace articula::testing::height_field_test
