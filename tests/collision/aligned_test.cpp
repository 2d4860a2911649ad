// Shapes that coincide or only just do not touch: what has no derivative says so, and contacts of pairs that
// are apart are positive and complete. ARTICULA_FULL=1 runs more of them.

#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/collision/derivatives.hpp"
#include "tests/support/convex_oracle.hpp"

namespace articula::testing::aligned_test {
namespace {

using namespace collision;

Mat3 turned(double angle, const Vector3& axis) {
  return Mat3::from(Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix());
}

TEST(aligned, coincident_centres_and_axes_are_flagged) {
  const auto flagged = [](const Shape& a, const Shape& b) {
    ContactPoint points[max_contact_points];
    const int count = collide(a, {}, b, {}, 0.0, points);
    bool all = count > 0;
    for (int i = 0; i < count; ++i) all &= differentiate(a, {}, b, {}, points[i]).one_sided;
    return all;
  };
  const Shape sphere = Shape::sphere(0.3);
  EXPECT_TRUE(flagged(sphere, sphere));
  EXPECT_TRUE(flagged(sphere, Shape::sphere(0.2)));
  EXPECT_TRUE(flagged(sphere, Shape::capsule(0.1, 0.4)));
  EXPECT_TRUE(flagged(sphere, Shape::box(0.3, 0.4, 0.5)));
  EXPECT_TRUE(flagged(sphere, Shape::cylinder(0.3, 0.4)));
  EXPECT_TRUE(flagged(Shape::capsule(0.1, 0.4), Shape::capsule(0.1, 0.3)));
  EXPECT_TRUE(flagged(Shape::box(0.3, 0.4, 0.5), Shape::box(0.1, 0.2, 0.3)));
}

// Boxes that just do not touch: no contact of theirs may claim that they do, and none may be left out.
TEST(aligned, contacts_of_separated_polyhedra_are_positive_and_none_is_missed) {
  Random random(5);
  const int configurations = std::getenv("ARTICULA_FULL") ? 300000 : 6000;
  for (int i = 0; i < configurations; ++i) {
    const auto shape = [&] {
      if (i % 2 == 0) return Shape::box(0.1, 0.002, 0.15);  // a card
      return random_shape(random, i % 3 ? ShapeType::box : ShapeType::mesh, 1.0);
    };
    const Shape a = shape(), b = shape();
    const Placement at_a{Mat3::from(random_rotation(random).toRotationMatrix()), Vec3()};
    // Leaning against each other about a common axis, or any way.
    const int axis = i % 4;
    const Mat3 lean = axis < 3 ? turned(uniform(random, 0, 3), Vector3::Unit(axis))
                               : Mat3::from(random_rotation(random).toRotationMatrix());
    Placement at_b{at_a.R * lean * turned(log_uniform(random, 1e-6, 0.1), random_direction(random)),
                   Vec3(Vector3(2 * random_direction(random)))};
    const Distance away = distance(a, at_a, b, at_b);
    at_b.p -= away.normal * (away.distance - log_uniform(random, 1e-9, 1e-2));
    const Distance d = distance(a, at_a, b, at_b);
    const double size = std::max(size_of(a), size_of(b));
    ContactPoint points[max_contact_points];
    const int count = collide(a, at_a, b, at_b, 0.02, points);
    ASSERT_GT(count, 0);
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
      least = std::min(least, points[k].distance);
      // Corners within reach of a fast step have normals of their own.
      const bool corner =
          points[k].feature_a.kind == FeatureKind::point || points[k].feature_b.kind == FeatureKind::point;
      if (!(corner && points[k].distance > d.distance))
        EXPECT_LT(norm(points[k].normal - d.normal), flat_angle * 1.01);
    }
    EXPECT_GT(least, 0) << i;
    EXPECT_NEAR(least, d.distance, 2e-6 * size + 2e-3 * d.distance) << i;
  }
}

}  // namespace
}  // namespace articula::testing::aligned_test
