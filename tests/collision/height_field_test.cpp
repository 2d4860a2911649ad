// Height fields: distances against the prisms under their triangles, and contacts of flat ground.
// ARTICULA_FULL=1 runs the acceptance sizes.

#include <gtest/gtest.h>

#include <span>

#include "articula/collision/queries.hpp"
#include "articula/error.hpp"
#include "articula/model/builder.hpp"
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
      for (int k = 0; k < count; ++k) {
        least = std::min(least, points[k].distance);
        for (int j = 0; j < k; ++j)
          EXPECT_FALSE(points[k].feature_a == points[j].feature_a &&
                       points[k].feature_b == points[j].feature_b)
              << static_cast<int>(type) << " " << i;
      }
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

Shape ground_of(int rows, int columns, std::array<double, 4> size, std::vector<double> elevation) {
  Shape ground;
  ground.type = ShapeType::height_field;
  ground.field =
      std::make_shared<HeightField>(HeightField{"", rows, columns, std::move(elevation), size, ""});
  return ground;
}

// More peaks under a plate than contacts are collected at once: the deepest of them is kept.
TEST(height_field, the_highest_of_many_peaks_carries) {
  std::vector<double> elevation;
  for (int i = 0; i < 81 * 81; ++i) elevation.push_back((i / 81 + i % 81) % 2 ? 0.0 : 0.5);
  elevation[static_cast<std::size_t>(60 * 81 + 58)] = 0.6;
  const Shape ground = ground_of(81, 81, {2, 2, 0.1, 0.1}, elevation);
  const Shape plate = Shape::box(1.5, 1.5, 0.1);
  ContactPoint points[max_contact_points];
  const int count = collide(plate, {Mat3::identity(), Vec3(0, 0, 0.155)}, ground, {}, 0.02, points);
  ASSERT_GE(count, 3);
  double least = INFINITY;
  for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
  EXPECT_NEAR(least, -0.005, 1e-12);
}

// Where level or evenly sloped triangles meet, shapes are over one of them: nothing falls through a seam.
TEST(height_field, seams_carry) {
  Random random(53);
  const Shape plane = Shape::plane();
  for (int i = 0; i < cases(300, 4000); ++i) {
    const int rows = 2 + i % 6, columns = 2 + i / 6 % 6;
    const double x = uniform(random, 0.5, 3), y = uniform(random, 0.5, 3), slope = i % 2 ? 0.3 : 0.0;
    std::vector<double> elevation;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) elevation.push_back(0.5 + slope * (2.0 * c / (columns - 1) - 1));
    const Shape ground = ground_of(rows, columns, {x, y, 1, 0.1}, elevation);
    // On a line of the grid, along its row, its column or a diagonal.
    const int r = static_cast<int>(uniform(random, 0, rows - 1)),
              c = static_cast<int>(uniform(random, 0, columns - 1));
    const double u = i % 3 == 0 ? 0.0 : uniform(random, 0, 1), v = i % 3 == 1 ? 0.0 : 1 - u;
    const Vec3 foot(-x + (c + u) * 2 * x / (columns - 1),
                    -y + (r + (i % 3 == 0 ? 0.3 : v)) * 2 * y / (rows - 1), 0.5);
    const Placement level{
        Mat3::from(Eigen::AngleAxisd(-std::atan2(slope, x), Vector3::UnitY()).toRotationMatrix()),
        Vec3(0, 0, 0.5)};
    for (const ShapeType type : {ShapeType::sphere, ShapeType::capsule, ShapeType::ellipsoid}) {
      const Shape shape = random_shape(random, type, 0.1);
      Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                   Vec3(foot[0], foot[1], 0.5 + slope * foot[0] / x)};
      at.p += level.R.z * (uniform(random, -0.01, 0.01) - distance(plane, level, shape, at).distance);
      const double wanted = distance(plane, level, shape, at).distance;
      // Near the rim the ground ends.
      if (std::abs(at.p[0]) > x - 0.15 || std::abs(at.p[1]) > y - 0.15) continue;
      EXPECT_NEAR(distance(shape, at, ground, {}).distance, wanted, 1e-10) << i;
      ContactPoint points[max_contact_points];
      const int count = collide(shape, at, ground, {}, 0.05, points);
      double least = INFINITY;
      for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
      EXPECT_NEAR(least, wanted, 1e-10) << i;
    }
    const Shape box = Shape::box(0.1, 0.08, 0.05);
    const Placement at{
        level.R, Vec3(foot[0], foot[1], 0.5 + slope * foot[0] / x) + level.R * Vec3(-0.1, -0.08, 0.049)};
    if (std::abs(at.p[0]) > x - 0.15 || std::abs(at.p[1]) > y - 0.15) continue;
    ContactPoint points[max_contact_points];
    EXPECT_EQ(collide(box, at, ground, {}, 0.0, points), 4) << i;
  }
}

TEST(height_field, a_limit_never_changes_the_distance) {
  Random random(59);
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(60, 2000); ++i) {
      Scene s = random_scene(random, type, 1.0);
      place(s, i % 2 ? Kind::sunk : Kind::beside, prisms(*s.field.field), 1.0, random);
      const double whole = distance(s.shape, s.at, s.field, s.at_field).distance;
      const double limit = whole + uniform(random, -0.2, 0.2);
      const Distance d = distance(s.shape, s.at, s.field, s.at_field, limit);
      EXPECT_EQ(d.beyond, limit <= whole) << static_cast<int>(type) << " " << i;
      if (!d.beyond) EXPECT_NEAR(d.distance, whole, 1e-10) << static_cast<int>(type) << " " << i;
    }
}

// A box a little inside an outer wall leaves through it, and not metres up; each place is met once.
TEST(height_field, walls_and_slopes_have_no_contact_far_deeper_than_the_overlap) {
  const Shape ground = ground_of(7, 7, {3, 3, 1, 0.1}, std::vector<double>(49, 0.5));
  ContactPoint points[max_contact_points];
  for (const double z : {-2.0, 0.3}) {
    const int count =
        collide(Shape::box(1, 1, 1), {Mat3::identity(), Vec3(3.99, 0.01, z)}, ground, {}, 0, points);
    ASSERT_GE(count, 1);
    for (int i = 0; i < count; ++i) EXPECT_NEAR(points[i].distance, -0.01, 1e-12) << z;
  }
  EXPECT_EQ(collide(Shape::sphere(0.1), {Mat3::identity(), Vec3(3.09, 0, 0)}, ground, {}, 0, points), 1);
  EXPECT_EQ(collide(Shape::sphere(0.2), {Mat3::identity(), Vec3(0, 0, 0.69)}, ground, {}, 0, points), 1);
  EXPECT_EQ(collide(Shape::sphere(0.2), {Mat3::identity(), Vec3(0.5, 0.5, 0.69)}, ground, {}, 0, points), 1);
  // A tent whose far slope is below the ellipsoid only beyond the ridge.
  const Shape tent = ground_of(2, 3, {1, 1, 3, 0.1}, {0, 1, 0, 0, 1, 0});
  const Placement at{Mat3::from(Eigen::AngleAxisd(1.8659, Vector3::UnitY()).toRotationMatrix()),
                     Vec3(-0.4377, 0.1, 2.4717)};
  const Shape egg = Shape::ellipsoid(1, 0.5, 0.25);
  const int count = collide(egg, at, tent, {}, 0, points);
  ASSERT_GE(count, 1);
  for (int i = 0; i < count; ++i)
    EXPECT_GT(points[i].distance, 2 * distance(egg, at, tent, {}).distance - 1e-3);
}

// A thin wall is left on the side where it was entered.
TEST(height_field, a_thin_wall_pushes_back_and_not_through) {
  std::vector<double> elevation(81, 0.0);
  for (int r = 0; r < 9; ++r) elevation[static_cast<std::size_t>(9 * r + 4)] = 1;
  const Shape ground = ground_of(9, 9, {0.2, 0.2, 1, 0.1}, elevation);
  ContactPoint points[max_contact_points];
  for (const Shape& shape : {Shape::box(0.05, 0.03, 0.02), Shape::ellipsoid(0.05, 0.03, 0.02),
                             Shape::sphere(0.02), Shape::cylinder(0.02, 0.02)}) {
    Placement at{Mat3::identity(), Vec3(-0.2, 0.003, 0.06)};
    while (distance(shape, at, ground, {}).distance > -0.004) at.p += Vec3(1e-4, 0, 0);
    const int count = collide(shape, at, ground, {}, 0.0, points);
    ASSERT_GE(count, 1);
    for (int i = 0; i < count; ++i) {
      EXPECT_GT(points[i].normal[0], 0.5) << static_cast<int>(shape.type);
      EXPECT_GT(points[i].distance, -0.01) << static_cast<int>(shape.type);
    }
  }
}

// Outer walls have no seams, carry a box at its corners, and push outwards.
TEST(height_field, outer_walls_are_planes) {
  Random random(67);
  const Shape ground = ground_of(5, 5, {1, 1, 1, 0.1}, std::vector<double>(25, 0.5)), plane = Shape::plane();
  const Placement wall{Mat3::from(Eigen::AngleAxisd(M_PI / 2, Vector3::UnitY()).toRotationMatrix()),
                       Vec3(1, 0, 0)};
  ContactPoint points[max_contact_points];
  for (const ShapeType type : bounded)
    for (int i = 0; i < cases(200, 3000); ++i) {
      const Shape shape = random_shape(random, type, 0.1);
      Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                   Vec3(1.5, uniform(random, -0.7, 0.7), uniform(random, -1, 0.2))};
      at.p -= Vec3(distance(plane, wall, shape, at).distance + uniform(random, -0.01, 0.02), 0, 0);
      const int count = collide(shape, at, ground, {}, 0.02, points);
      ASSERT_GE(count, 1);
      double least = INFINITY;
      for (int k = 0; k < count; ++k) {
        EXPECT_LT(points[k].normal[0], -1 + 1e-9) << static_cast<int>(type) << " " << i;
        least = std::min(least, points[k].distance);
      }
      EXPECT_LT(std::abs(least - distance(plane, wall, shape, at).distance), 1e-3);
    }
  EXPECT_EQ(
      collide(Shape::box(0.1, 0.05, 0.05), {Mat3::identity(), Vec3(1.099, 0.2, 0)}, ground, {}, 0, points),
      4);
}

// Within a margin wider than the shape is high, its lower corners carry, as on a plane.
TEST(height_field, lower_corners_carry_within_wide_margins) {
  const Shape ground = ground_of(3, 3, {1, 1, 1, 0.1}, std::vector<double>(9, 0.0)), plane = Shape::plane();
  std::vector<Vector3> corners;
  for (int i = 0; i < 8; ++i)
    corners.emplace_back(i & 1 ? 0.01 : -0.01, i & 2 ? 0.008 : -0.008, i & 4 ? 0.006 : -0.006);
  const Shape brick = Shape::mesh(std::make_shared<const Hull>(make_hull(corners, {{0, 2, 1},
                                                                                   {1, 2, 3},
                                                                                   {4, 5, 6},
                                                                                   {5, 7, 6},
                                                                                   {0, 1, 4},
                                                                                   {1, 5, 4},
                                                                                   {2, 6, 3},
                                                                                   {3, 6, 7},
                                                                                   {0, 4, 2},
                                                                                   {2, 4, 6},
                                                                                   {1, 3, 5},
                                                                                   {3, 7, 5}})));
  for (const double tilt : {0.0, 0.3})
    for (const Shape& shape : {Shape::box(0.01, 0.008, 0.006), brick}) {
      const Placement at{Mat3::from(Eigen::AngleAxisd(tilt, Vector3(0.8, 0.6, 0)).toRotationMatrix()),
                         Vec3(0.1, 0.2, 0.02)};
      const auto lowest_four_carry = [&](const ContactPoint* points, int count) {
        ASSERT_EQ(count, 4);
        for (int k = 0; k < 4; ++k) EXPECT_LT(points[k].distance, 0.02) << tilt;
      };
      ContactPoint points[max_contact_points];
      lowest_four_carry(points, collide(shape, at, ground, {}, 0.05, points));
      lowest_four_carry(points, collide(plane, {}, shape, at, 0.05, points));
    }
}

TEST(height_field, tilted_cylinders_and_hollow_corners_are_as_far_as_from_a_plane) {
  const Shape ground = ground_of(3, 3, {5, 5, 1, 0.1}, std::vector<double>(9, 0.0)), plane = Shape::plane();
  const Placement tilted{
      Mat3::from(Eigen::AngleAxisd(0.015, Vector3(std::cos(0.4), std::sin(0.4), 0)).toRotationMatrix()),
      Vec3(0.3, 0.2, 2)};
  const Shape can = Shape::cylinder(1, 1);
  EXPECT_NEAR(distance(can, tilted, ground, {}).distance, distance(plane, {}, can, tilted).distance, 1e-12);
  // The middle of its bounding box is outside of it.
  const Shape corner = Shape::mesh(std::make_shared<const Hull>(
      make_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}})));
  const Matrix3 R = Quaternion::FromTwoVectors(Vector3(1, 1, 1), Vector3(0, 0, -1)).toRotationMatrix();
  const Placement at{Mat3::from(R), Vec3(Vector3(Vector3(0, 0, 0.1) - R * Vector3(0.5, 0.5, 0.5)))};
  EXPECT_NEAR(distance(corner, at, ground, {}).distance, distance(plane, {}, corner, at).distance, 1e-12);
}

TEST(height_field, is_met_by_rays_along_its_lines_and_through_its_walls) {
  Random random(61);
  const Shape ground = random_terrain(random, 5, 1.0, 0.2);
  for (int i = 0; i <= 2000; ++i) {
    const double x = -1 + i * 0.001, y = -1 + 0.5 * (i % 5);
    for (const Vec3& from : {Vec3(x, y, 3), Vec3(y, x, 3)}) {
      EXPECT_TRUE(cast_ray(ground, {}, from, Vec3(0, 0, -1)).hit()) << i;
      EXPECT_TRUE(cast_ray(ground, {}, from + Vec3(0.4, 0.2, 0), Vec3(-0.4, -0.2, -3)).hit()) << i;
    }
  }
  const RayHit wall = cast_ray(ground, {}, Vec3(3, 0.2, -0.5), Vec3(-1, 0, 0));
  ASSERT_TRUE(wall.hit());
  EXPECT_NEAR(wall.distance, 2, 1e-12);
  EXPECT_NEAR(wall.normal[0], 1, 1e-12);
  EXPECT_FALSE(cast_ray(ground, {}, Vec3(3, 0.2, 0.5), Vec3(-1, 0, 0)).hit());
}

TEST(height_field, that_is_none_is_refused) {
  const auto refuses = [](HeightField field) {
    Description d;
    field.name = "ground";
    d.height_fields.push_back(std::make_shared<HeightField>(std::move(field)));
    EXPECT_THROW(build(d), Error);
  };
  refuses({"", 2, 2, {0, 0, 0, 0}, {0, 1, 1, 1}, ""});
  refuses({"", 2, 2, {0, NAN, 0, 0}, {1, 1, 1, 1}, ""});
  refuses({"", 2, 2, {0, 3, 0, 0}, {1, 1, 1, 1}, ""});
  refuses({"", 2, 2, {0, 0, 0}, {1, 1, 1, 1}, ""});
  refuses({"", 1, 2, {0, 0}, {1, 1, 1, 1}, ""});
}

TEST(height_field, flat_ground_carries_a_box_at_its_four_corners) {
  Random random(33);
  const Shape field = random_terrain(random, grid, 1.5, 0.0), box = Shape::box(0.4, 0.3, 0.2);
  const Placement at{Mat3::identity(), Vec3(0.07, -0.11, 0.199)};
  ContactPoint points[max_contact_points];
  ASSERT_EQ(collide(box, at, field, {}, 0.0, points), 4);
  for (const ContactPoint& p : std::span(points, 4)) {
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
