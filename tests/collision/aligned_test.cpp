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

// d distance / dh as h grows from 0, minus that as it falls: nothing where there is a derivative.
double kink(const Shape& a, const Shape& b, const Placement& at_b, const Vec3& direction) {
  const double h = 1e-6;
  const auto at = [&](double t) { return distance(a, {}, b, {at_b.R, at_b.p + direction * t}).distance; };
  return (at(h) + at(-h) - 2 * at(0)) / h;
}

// Where one shape leaves the other equally soon in several directions, its distance has no derivative.
TEST(aligned, overlaps_with_several_shortest_ways_out_are_flagged) {
  Random random(17);
  const Shape hull = random_shape(random, ShapeType::mesh, 0.2);
  // An octahedron: eight faces at equal distances.
  std::vector<Vector3> corners;
  for (int k = 0; k < 6; ++k) corners.push_back(Vector3::Unit(k / 2) * (k % 2 ? 0.4 : -0.4));
  const Shape octahedron =
      Shape::mesh(std::make_shared<const Hull>(make_hull(corners, incremental_hull(corners))));
  const Shape shapes[] = {Shape::sphere(0.1),
                          Shape::capsule(0.1, 0.3),
                          Shape::box(0.3, 0.3, 0.4),
                          Shape::cylinder(0.3, 0.4),
                          hull,
                          octahedron,
                          Shape::box(0.2, 0.3, 0.5),
                          Shape::ellipsoid(0.2, 0.3, 0.4)};
  int kinks = 0;
  for (const Shape& a : shapes)
    for (const Shape& b : shapes)
      for (const Vec3& p :
           {Vec3(), Vec3(0.05, 0.05, 0), Vec3(0, 0, 0.1), Vec3(0.1, 0, 0), Vec3(0, 0.07, 0.07)})
        for (const double angle : {0.0, M_PI / 2, 0.3}) {
          const Placement at_b{turned(angle, Vector3(0, 0, 1)), p};
          double most = 0;
          for (const Vec3& direction : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)})
            most = std::max(most, std::abs(kink(a, b, at_b, direction)));
          if (!(most > 0.01)) continue;
          ++kinks;
          ContactPoint points[max_contact_points];
          const int count = collide(a, {}, b, at_b, 0.0, points);
          EXPECT_TRUE(distance(a, {}, b, at_b).degenerate);
          bool flagged = count > 0;
          for (int i = 0; i < count; ++i) flagged &= differentiate(a, {}, b, at_b, points[i]).one_sided;
          EXPECT_TRUE(flagged) << static_cast<int>(a.type) << " " << static_cast<int>(b.type) << " at "
                               << p.eigen().transpose() << " turned " << angle << ": " << most;
        }
  EXPECT_GT(kinks, 200);
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
