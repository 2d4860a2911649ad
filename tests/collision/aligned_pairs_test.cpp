// Faces flush, edges parallel, axes aligned and across, corners on corners, edges and faces, centres that
// coincide, one shape inside the other: every pair in every such position, against the oracle, and with
// derivatives that are numbers. ARTICULA_FULL=1 runs all of them.

#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/collision/derivatives.hpp"
#include "tests/support/convex_oracle.hpp"

namespace articula::testing {
namespace {

using namespace collision;

Mat3 turned(double angle, const Vector3& axis) {
  return Mat3::from(Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix());
}

// A prism over a square, with its faces merged from triangles; or an octahedron.
Shape cube_mesh(const Vector3& half) {
  std::vector<Vector3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(half.cwiseProduct(Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  const std::vector<std::array<int, 3>> triangles{{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                                  {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                                  {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return Shape::mesh(std::make_shared<const Hull>(make_hull(points, triangles)));
}
Shape octahedron(double r) {
  const std::vector<Vector3> points{{r, 0, 0}, {-r, 0, 0}, {0, r, 0}, {0, -r, 0}, {0, 0, r}, {0, 0, -r}};
  const std::vector<std::array<int, 3>> triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                                  {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  return Shape::mesh(std::make_shared<const Hull>(make_hull(points, triangles)));
}

struct Named {
  const char* name;
  Shape shape;
};

std::vector<Named> shapes(double s) {
  return {{"plane", Shape::plane()},
          {"sphere", Shape::sphere(0.5 * s)},
          {"capsule", Shape::capsule(0.2 * s, 0.5 * s)},
          {"needle", Shape::capsule(1e-4 * s, s)},
          {"box", Shape::box(0.5 * s, 0.4 * s, 0.3 * s)},
          {"cube", Shape::box(0.5 * s, 0.5 * s, 0.5 * s)},
          {"sheet", Shape::box(0.5 * s, 0.4 * s, 1e-4 * s)},
          {"cylinder", Shape::cylinder(0.3 * s, 0.5 * s)},
          {"coin", Shape::cylinder(0.5 * s, 1e-3 * s)},
          {"ellipsoid", Shape::ellipsoid(0.5 * s, 0.4 * s, 0.3 * s)},
          {"round_ellipsoid", Shape::ellipsoid(0.4 * s, 0.4 * s, 0.4 * s)},
          {"cube_mesh", cube_mesh(Vector3(0.5, 0.4, 0.3) * s)},
          {"octahedron", octahedron(0.5 * s)}};
}

std::vector<Mat3> orientations() {
  const double quarter = M_PI / 2, eighth = M_PI / 4;
  const Mat3 on_corner = turned(std::acos(1 / std::sqrt(3.0)), Vector3(1, -1, 0));
  return {Mat3::identity(),
          turned(quarter, Vector3::UnitX()),
          turned(quarter, Vector3::UnitY()),
          turned(quarter, Vector3::UnitZ()),
          turned(2 * quarter, Vector3::UnitX()),
          turned(eighth, Vector3::UnitX()),
          turned(eighth, Vector3::UnitY()),
          turned(eighth, Vector3::UnitZ()),
          on_corner,
          turned(0.3, Vector3::UnitZ()),
          turned(1e-9, Vector3(1, 2, 3)),
          turned(1e-4, Vector3(3, 1, -2))};
}

// Towards faces, edges and corners of a box.
std::vector<Vector3> directions() {
  std::vector<Vector3> list;
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z)
        if (x != 0 || y != 0 || z != 0) list.push_back(Vector3(x, y, z).normalized());
  return list;
}

bool is_polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }

bool finite(const ContactRate& r) {
  return r.position.eigen().allFinite() && r.normal.eigen().allFinite() && std::isfinite(r.distance);
}

// Numbers everywhere, and the deepest contact as deep as the distance says.
void check_contacts(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                    const Distance& d, double size) {
  ContactPoint points[max_contact_points], swapped[max_contact_points];
  const int count = collide(a, at_a, b, at_b, 0.01 * size, points);
  ASSERT_EQ(count > 0, d.distance <= 0.01 * size) << count << " contacts at " << d.distance;
  double least = INFINITY;
  for (int i = 0; i < count; ++i) {
    const ContactPoint& c = points[i];
    least = std::min(least, c.distance);
    EXPECT_NEAR(norm(c.normal), 1.0, 1e-12);
    EXPECT_TRUE(c.position.eigen().allFinite());
    const ContactDerivatives motion = differentiate(a, at_a, b, at_b, c);
    for (const ContactRate& r : motion.motion) EXPECT_TRUE(finite(r));
    for (const ContactRate& r : differentiate_sizes(a, at_a, b, at_b, c).size) EXPECT_TRUE(finite(r));
    const VertexDerivatives vertices = differentiate_vertices(a, at_a, b, at_b, c);
    for (int k = 0; k < vertices.count; ++k)
      for (const ContactRate& r : vertices.entries[k].coordinate) EXPECT_TRUE(finite(r));
    if (c.degenerate) EXPECT_TRUE(motion.one_sided);
  }
  if (count > 0) EXPECT_NEAR(least, d.distance, flat_angle * flat_angle * size + 1e-3 * std::abs(d.distance));
  // In the other order: the same contacts with the normals turned round, except where nothing tells the two
  // shapes apart.
  if (collide(b, at_b, a, at_a, 0.01 * size, swapped) != count) ADD_FAILURE() << "another number of contacts";
  for (int i = 0; i < count; ++i) EXPECT_NEAR(points[i].distance, swapped[i].distance, 1e-12 * size);
}

class AlignedPair : public ::testing::TestWithParam<int> {};

TEST_P(AlignedPair, agrees_with_the_oracle_and_has_derivatives_that_are_numbers) {
  const bool full = std::getenv("ARTICULA_FULL") != nullptr;
  const int stride = full ? 1 : 29;
  Random random(1);
  int number = GetParam(), checked = 0;
  const std::vector<Named> list = shapes(1.0), small = shapes(0.3);
  const Named& first = list[static_cast<std::size_t>(GetParam())];
  for (std::size_t other = 1; other < list.size(); ++other)
    for (const bool inside : {false, true})
      for (const Mat3& R : orientations())
        for (const Vector3& direction : directions())
          for (const double gap : {0.0, 0.1, -0.05, 1e-9, -1e-9, -1.0}) {
            if (++number % stride != 0) continue;
            const Shape &a = first.shape, &b = inside ? small[other].shape : list[other].shape;
            const Placement at_a{R, Vec3(0.3, -0.2, 0.1)};
            Placement at_b{Mat3::identity(), at_a.p};
            const Vector3 n = a.type == ShapeType::plane ? Vector3(at_a.R.z.eigen()) : direction;
            // gap -1: the centres coincide.
            const double out = overlap_along(OracleBody(a, at_a), OracleBody(b, at_b), n) + gap;
            if (gap > -1) at_b.p += Vec3(Vector3(n * out));
            const double size = std::max({size_of(a), size_of(b), 0.3});
            const double tolerance = is_polyhedral(a) && is_polyhedral(b) ? 1e-10 : 1e-8;
            const Distance d = distance(a, at_a, b, at_b);
            EXPECT_TRUE(d.exact);
            EXPECT_LE(distance_error(a, at_a, b, at_b, d, random, 60), tolerance * size);
            EXPECT_NEAR(distance(b, at_b, a, at_a).distance, d.distance, 1e-12 * size);
            check_contacts(a, at_a, b, at_b, d, size);
            ++checked;
            if (HasFailure())
              GTEST_FAIL() << first.name << " " << list[other].name << " inside " << inside << " gap " << gap
                           << " direction " << direction.transpose() << " number " << number;
          }
  EXPECT_GT(checked, 50);
}

INSTANTIATE_TEST_SUITE_P(collision, AlignedPair, ::testing::Range(0, 13), [](const auto& p) {
  return std::string(shapes(1.0)[static_cast<std::size_t>(p.param)].name);
});

}  // namespace
}  // namespace articula::testing
