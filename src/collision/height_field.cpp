// A height field is a grid of triangular prisms from the base up to the terrain. Only those under the other
// shape's bounding box are looked at.

#include <algorithm>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

struct Grid {
  const HeightField& field;
  double dx, dy;

  explicit Grid(const HeightField& f)
      : field(f),
        dx(2 * f.size[0] / std::max(1, f.columns - 1)),
        dy(2 * f.size[1] / std::max(1, f.rows - 1)) {}

  Vec3 corner(int row, int column) const {
    return {-field.size[0] + column * dx, -field.size[1] + row * dy,
            field.size[2] * field.elevation[static_cast<std::size_t>(row * field.columns + column)]};
  }
};

// Half sizes of the box around a shape in the field's axes.
Vec3 extent_in(const Shape& shape, const Mat3& R) {
  const Bound box = bound(shape);
  return Mat3{absolute(R.x), absolute(R.y), absolute(R.z)} * box.half;
}

// Contact of a convex shape with one terrain triangle, taken as the solid below it: the overlap is measured
// along the triangle's normal, so that the seams between triangles are never felt.
int triangle_contacts(const PairArguments& pair, const Placement& b_in_field, const Vec3 (&corner)[3],
                      int index, ContactPoint* out) {
  const Vec3 n = unit(cross(corner[1] - corner[0], corner[2] - corner[0]));
  const Vec3 local = transpose_times(b_in_field.R, n);
  const SupportPoint lowest = support(pair.a, -local);
  const Vec3 x = b_in_field * lowest.x - n * core_radius(pair.a);
  const double height = dot(n, x - corner[0]);
  if (height > pair.margin) return 0;
  const Vec3 foot = x - n * height;
  for (int i = 0; i < 3; ++i) {
    const Vec3 edge = corner[(i + 1) % 3] - corner[i];
    if (dot(cross(edge, foot - corner[i]), n) < 0) return 0;
  }
  ContactPoint& c = *out;
  c = {};
  c.normal = -(pair.at_b.R * n);
  c.distance = height;
  c.position = pair.at_b * (x - n * (0.5 * height));
  c.feature_a = pair.a.type == ShapeType::ellipsoid ? Feature{FeatureKind::surface, 0}
                : pair.a.type == ShapeType::cylinder
                    ? Feature{FeatureKind::circle, local[2] > 0 ? 0 : 1}
                    : Feature{FeatureKind::point, std::max(0, lowest.vertex)};
  c.feature_b = {FeatureKind::face, index};
  return 1;
}

}  // namespace

int height_field_contacts(const PairArguments& pair, ContactPoint* out) {
  const Grid grid(*pair.b.field);
  const HeightField& f = grid.field;
  if (f.rows < 2 || f.columns < 2) return 0;
  const Placement in_field{
      {transpose_times(pair.at_b.R, pair.at_a.R.x), transpose_times(pair.at_b.R, pair.at_a.R.y),
       transpose_times(pair.at_b.R, pair.at_a.R.z)},
      transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p)};
  const Vec3 half = extent_in(pair.a, in_field.R), centre = in_field * bound(pair.a).centre;
  const auto cell = [](double x, double step, int count) {
    return std::clamp(static_cast<int>(std::floor(x / step)), 0, count - 2);
  };
  const double m = std::max(0.0, pair.margin);
  const int c0 = cell(centre[0] - half[0] - m + f.size[0], grid.dx, f.columns);
  const int c1 = cell(centre[0] + half[0] + m + f.size[0], grid.dx, f.columns);
  const int r0 = cell(centre[1] - half[1] - m + f.size[1], grid.dy, f.rows);
  const int r1 = cell(centre[1] + half[1] + m + f.size[1], grid.dy, f.rows);
  constexpr int room = 64;
  PointBuffer<room> buffer;
  ContactPoint* points = buffer.data();
  int count = 0;
  for (int r = r0; r <= r1; ++r)
    for (int c = c0; c <= c1; ++c)
      for (int half_cell = 0; half_cell < 2 && count < room; ++half_cell) {
        const Vec3 corner[3] = {half_cell ? grid.corner(r + 1, c + 1) : grid.corner(r, c),
                                half_cell ? grid.corner(r + 1, c) : grid.corner(r, c + 1),
                                half_cell ? grid.corner(r, c + 1) : grid.corner(r + 1, c)};
        count += triangle_contacts(pair, in_field, corner, 2 * (r * (f.columns - 1) + c) + half_cell,
                                   points + count);
      }
  count = reduce(points, count);
  std::copy(points, points + count, out);
  return count;
}

}  // namespace articula::collision
