#include "tests/support/random_shapes.hpp"

#include <map>

namespace articula::testing {

std::vector<std::array<int, 3>> incremental_hull(const std::vector<Vector3>& p) {
  std::vector<std::array<int, 3>> faces{{0, 1, 2}, {0, 2, 1}};
  const int n = static_cast<int>(p.size());
  for (int i = 3; i < n; ++i) {
    std::map<std::pair<int, int>, bool> border;
    std::vector<std::array<int, 3>> kept;
    for (const auto& f : faces) {
      const Vector3 normal = (p[f[1]] - p[f[0]]).cross(p[f[2]] - p[f[0]]);
      if (normal.dot(p[i] - p[f[0]]) <= 0) {
        kept.push_back(f);
        continue;
      }
      for (int k = 0; k < 3; ++k) {
        const auto twin = border.find({f[(k + 1) % 3], f[k]});
        if (twin != border.end())
          border.erase(twin);
        else
          border[{f[k], f[(k + 1) % 3]}] = true;
      }
    }
    for (const auto& [edge, unused] : border) kept.push_back({edge.first, edge.second, i});
    faces = kept;
  }
  return faces;
}

std::shared_ptr<const collision::Hull> random_hull(Random& random, int count, const Vector3& radii) {
  for (;;) {
    std::vector<Vector3> points;
    for (int i = 0; i < count; ++i) points.push_back(radii.cwiseProduct(random_direction(random)));
    const auto triangles = incremental_hull(points);
    auto hull = std::make_shared<const collision::Hull>(collision::make_hull(points, triangles));
    // Nearly coplanar triangles would be merged into a face that is flat only to 1e-5: not for exact tests.
    if (hull->face_count() == static_cast<int>(triangles.size())) return hull;
  }
}

collision::Shape random_shape(Random& random, ShapeType type, double size) {
  const auto length = [&] { return size * uniform(random, 0.2, 1.0); };
  switch (type) {
    case ShapeType::sphere: return collision::Shape::sphere(length());
    case ShapeType::capsule: return collision::Shape::capsule(length(), length());
    case ShapeType::box: return collision::Shape::box(length(), length(), length());
    case ShapeType::cylinder: return collision::Shape::cylinder(length(), length());
    case ShapeType::ellipsoid: return collision::Shape::ellipsoid(length(), length(), length());
    case ShapeType::mesh:
      return collision::Shape::mesh(random_hull(random, 8 + static_cast<int>(uniform(random, 0, 13)),
                                                Vector3(length(), length(), length())));
    default: return collision::Shape::plane();
  }
}

collision::Shape random_terrain(Random& random, int grid, double half_width, double height) {
  auto field = std::make_shared<HeightField>();
  field->rows = field->columns = grid;
  field->size = {half_width, half_width, height, 0.1 * half_width};
  for (int i = 0; i < grid * grid; ++i) field->elevation.push_back(uniform(random, 0, 1));
  collision::Shape shape;
  shape.type = ShapeType::height_field;
  shape.field = field;
  return shape;
}

}  // namespace articula::testing
