// Signed distances of all pairs against support functions, membership and exhaustive search written apart
// from the library (tests/support/convex_oracle). ARTICULA_FULL=1 runs the acceptance sizes.

#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/collision/narrowphase.hpp"
#include "tests/support/convex_oracle.hpp"

namespace articula::testing::distance_test {
namespace {

using namespace collision;

int configurations() { return std::getenv("ARTICULA_FULL") ? 10000 : 200; }

constexpr ShapeType bounded[] = {ShapeType::sphere,   ShapeType::capsule,   ShapeType::box,
                                 ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh};

bool is_polyhedral(ShapeType t) { return t == ShapeType::box || t == ShapeType::mesh; }

struct Scene {
  Shape a, b;
  Placement at_a, at_b;
};

// Near and far, touching and deep, of one size or very different, aligned, parallel and coincident.
Scene random_scene(Random& random, ShapeType ta, ShapeType tb, int i) {
  double size = log_uniform(random, 1e-3, 1e3);
  double other = i % 2 ? size : i % 4 ? log_uniform(random, 1e-3, 1e3) : size * log_uniform(random, 0.02, 1);
  if (i % 16 == 2) size = 1e3, other = 1e-3;
  if (i % 16 == 6) size = 1e-3, other = 1e3;
  const double larger = std::max(size, other), smaller = std::min(size, other);
  Scene s{random_shape(random, ta, size), random_shape(random, tb, other), {}, {}};
  s.at_a.R = Mat3::from(random_rotation(random).toRotationMatrix());
  s.at_b.R = i % 7 == 0 ? s.at_a.R : Mat3::from(random_rotation(random).toRotationMatrix());
  if (i % 11 == 0) s.at_a.R = s.at_b.R = Mat3::identity();
  const Vector3 direction = i % 5 == 0 ? Vector3(0, 0, 1) : random_direction(random);
  s.at_a.p = Vec3(Vector3(random_direction(random) * larger * log_uniform(random, 0.01, 100)));
  s.at_b.p =
      i % 13 == 0 ? s.at_a.p : s.at_a.p + Vec3(Vector3(direction * larger * log_uniform(random, 0.01, 3)));
  if (i % 3 == 0) {
    // To the surface: touching there, or off by up to the smaller one's size.
    const Vector3 n = i % 5 == 0 ? direction : random_direction(random);
    const double overlap = overlap_along(OracleBody(s.a, s.at_a), OracleBody(s.b, s.at_b), n);
    s.at_b.p += Vec3(Vector3(n * (overlap + (i % 9 == 0 ? 0.0 : smaller * uniform(random, -1, 1)))));
  }
  return s;
}

class DistanceOfPair : public ::testing::TestWithParam<std::tuple<ShapeType, ShapeType>> {};

TEST_P(DistanceOfPair, agrees_with_the_oracle) {
  const auto [ta, tb] = GetParam();
  const double tolerance = is_polyhedral(ta) && is_polyhedral(tb) ? 1e-10 : 1e-8;
  Random random(static_cast<unsigned>(ta) * 8 + static_cast<unsigned>(tb));
  for (int i = 0; i < configurations(); ++i) {
    const Scene s = random_scene(random, ta, tb, i);
    const Distance d = distance(s.a, s.at_a, s.b, s.at_b);
    const double size = std::max(size_of(s.a), size_of(s.b));
    const double from_origin = std::max(norm(s.at_a.p), norm(s.at_b.p));
    EXPECT_TRUE(d.exact) << "configuration " << i;
    EXPECT_LE(distance_error(s.a, s.at_a, s.b, s.at_b, d, random, 200),
              tolerance * size + 64 * 2.2e-16 * from_origin)
        << "configuration " << i;
  }
}

TEST_P(DistanceOfPair, is_the_same_whatever_the_order_and_wherever_the_scene) {
  const auto [ta, tb] = GetParam();
  Random random(99);
  for (int i = 0; i < configurations() / 2; ++i) {
    const Scene s = random_scene(random, ta, tb, i);
    const Distance d = distance(s.a, s.at_a, s.b, s.at_b), swapped = distance(s.b, s.at_b, s.a, s.at_a);
    const double size = std::max(size_of(s.a), size_of(s.b));
    const double noise = 1e-9 * size + 1e-14 * norm(s.at_a.p);
    EXPECT_NEAR(d.distance, swapped.distance, noise);
    const Placement moved{Mat3::from(random_rotation(random).toRotationMatrix()),
                          Vec3(Vector3(random_direction(random) * 10 * size))};
    const Distance there = distance(s.a, moved * s.at_a, s.b, moved * s.at_b);
    EXPECT_NEAR(d.distance, there.distance, noise + 1e-13 * size);
  }
}

std::vector<std::tuple<ShapeType, ShapeType>> all_pairs() {
  std::vector<std::tuple<ShapeType, ShapeType>> pairs;
  for (const ShapeType a : bounded)
    for (const ShapeType b : bounded)
      if (a <= b) pairs.emplace_back(a, b);
  return pairs;
}

std::string type_name(ShapeType t) {
  constexpr const char* names[] = {"plane",    "sphere",    "capsule", "box",
                                   "cylinder", "ellipsoid", "mesh",    "field"};
  return names[static_cast<int>(t)];
}

INSTANTIATE_TEST_SUITE_P(collision, DistanceOfPair, ::testing::ValuesIn(all_pairs()), [](const auto& p) {
  return type_name(std::get<0>(p.param)) + "_" + type_name(std::get<1>(p.param));
});

TEST(distance, of_a_plane_is_the_height_of_the_lowest_point) {
  Random random(3);
  for (const ShapeType type : bounded)
    for (int i = 0; i < 200; ++i) {
      const Shape plane = Shape::plane(), b = random_shape(random, type, 1.0);
      const Placement at_a{Mat3::from(random_rotation(random).toRotationMatrix()),
                           Vec3(Vector3(random_direction(random)))};
      const Placement at_b{Mat3::from(random_rotation(random).toRotationMatrix()),
                           Vec3(Vector3(random_direction(random)))};
      const Vector3 n = at_a.R.z.eigen();
      const double height = n.dot((at_b.p - at_a.p).eigen()) - OracleBody(b, at_b).extent(-n);
      const Distance d = distance(plane, at_a, b, at_b);
      EXPECT_NEAR(d.distance, height, 1e-14);
      EXPECT_NEAR(-distance(b, at_b, plane, at_a).normal.eigen().dot(n), 1.0, 1e-14);
      EXPECT_LT(OracleBody(b, at_b).violation(d.point_b.eigen()), 1e-14);
    }
}

// Seen from above, the rim of a disc touches the edge of a face far below it: the points are known only where
// they are told by the touching, not by the distance, which hardly changes along the rim.
TEST(distance, of_a_disc_beside_a_face_far_below_it_has_points_on_both) {
  Random random(8);
  for (int i = 0; i < 4000; ++i) {
    const double size = 688 * uniform(random, 0.5, 1),
                 r = (i % 2 ? 0.2 * size : 2e-3) * uniform(random, 0.5, 1);
    const Shape box = Shape::box(size, 0.5 * size, 0.4 * size), disc = Shape::cylinder(r, r);
    Matrix3 R;
    R << 0, -1, 0, 0, 0, -1, 1, 0, 0;
    if (i % 4) R = Eigen::AngleAxisd(log_uniform(random, 1e-15, 1e-5), random_direction(random)) * R;
    const Placement at{Mat3::from(R),
                       Vec3(size + r, size * uniform(random, 0.8, 1.5), size * uniform(random, -0.3, 0.3))};
    const Distance d = distance(box, {}, disc, at);
    EXPECT_TRUE(d.exact);
    EXPECT_LE(distance_error(box, {}, disc, at, d, random, 20), 1e-8 * size) << i;
  }
}

}  // namespace
}  // namespace articula::testing::distance_test
