#include "tests/support/aligned_scenes.hpp"

namespace articula::testing {

using collision::Hull;
using collision::Shape;

namespace {

Mat3 turned(double angle, const Vector3& axis) {
  return Mat3::from(Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix());
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

}  // namespace

Shape cube_mesh(const Vector3& half) {
  std::vector<Vector3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(half.cwiseProduct(Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  const std::vector<std::array<int, 3>> triangles{{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                                  {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                                  {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return Shape::mesh(std::make_shared<const Hull>(collision::make_hull(points, triangles)));
}

Shape octahedron(double r) {
  const std::vector<Vector3> points{{r, 0, 0}, {-r, 0, 0}, {0, r, 0}, {0, -r, 0}, {0, 0, r}, {0, 0, -r}};
  const std::vector<std::array<int, 3>> triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                                  {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  return Shape::mesh(std::make_shared<const Hull>(collision::make_hull(points, triangles)));
}

std::vector<NamedShape> special_shapes(double s) {
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

void visit_aligned_scenes(int n, int stride, const std::function<bool(const AlignedScene&)>& visit) {
  const std::vector<NamedShape> list = special_shapes(1.0), small = special_shapes(0.3);
  const Shape& a = list[static_cast<std::size_t>(n)].shape;
  int number = n;
  for (std::size_t other = 1; other < list.size(); ++other)
    for (const bool inside : {false, true})
      for (const Mat3& R : orientations())
        for (const Vector3& direction : directions())
          for (const double gap : {0.0, 0.1, -0.05, 1e-9, -1e-9, -1.0}) {
            if (++number % stride != 0) continue;
            const Shape& b = inside ? small[other].shape : list[other].shape;
            const Placement at_a{R, Vec3(0.3, -0.2, 0.1)};
            Placement at_b{Mat3::identity(), at_a.p};
            const Vector3 along = a.type == ShapeType::plane ? Vector3(at_a.R.z.eigen()) : direction;
            // gap -1: the centres coincide.
            const double out = overlap_along(OracleBody(a, at_a), OracleBody(b, at_b), along) + gap;
            if (gap > -1) at_b.p += Vec3(Vector3(along * out));
            const double size = std::max({collision::size_of(a), collision::size_of(b), 0.3});
            if (!visit({a, b, at_a, at_b, size, number})) return;
          }
}

}  // namespace articula::testing
