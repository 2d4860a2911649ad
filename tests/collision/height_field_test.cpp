// Height fields: distances against the prisms under their triangles, and contacts of flat ground.
// ARTICULA_FULL=1 runs the acceptance sizes.

#include <gtest/gtest.h>

#include "articula/collision/narrowphase.hpp"
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

double least_distance(const std::vector<Shape>& list, const Placement& at_field, const Shape& shape,
                      const Placement& at) {
  double least = INFINITY;
  for (const Shape& p : list) least = std::min(least, distance(shape, at, p, at_field).distance);
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

TEST(height_field, is_as_far_as_the_nearest_prism_under_its_triangles) {
  Random random(31);
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(40, 10000); ++i) {
      const double scale = log_uniform(random, 1e-3, 1e3);
      Scene s = random_scene(random, type, scale);
      const std::vector<Shape> list = prisms(*s.field.field);
      // Down to a gap between nothing and 20 cm, or until they touch; or far away.
      const double gap = least_distance(list, s.at_field, s.shape, s.at);
      const double way = i % 4 == 0   ? -log_uniform(random, 1e-3, 1e3) * scale
                         : i % 4 == 1 ? gap - log_uniform(random, 1e-12, 1e-3) * scale
                                      : gap * uniform(random, 0, 1);
      s.at.p -= s.at_field.R.z * way;
      const double reference = least_distance(list, s.at_field, s.shape, s.at);
      const Distance d = distance(s.shape, s.at, s.field, s.at_field);
      const double noise = 64 * 2.2e-16 * std::max(norm(s.at.p), norm(s.at_field.p));
      const bool flat = type == ShapeType::box || type == ShapeType::mesh;
      EXPECT_NEAR(d.distance, reference, (flat ? 1e-10 : 1e-8) * scale + noise)
          << static_cast<int>(type) << " " << i;
      EXPECT_LT(norm(d.point_b - d.point_a - d.normal * d.distance), 1e-12 * scale + noise);
      EXPECT_NEAR(distance(s.field, s.at_field, s.shape, s.at).distance, d.distance, 1e-14 * scale + noise);
    }
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
