// A height field: the lowest points of a shape on its triangles, and its peaks under the shape. Only the part
// below the shape's bounding box is looked at.

#include <algorithm>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

struct Patchwork {
  const PairArguments& pair;         // a: the shape, b: the field
  Placement in_field;                // of the shape
  int row0, row1, column0, column1;  // cells under it
};

// Half sizes of the box around a shape in the field's axes.
Vec3 extent_in(const Shape& shape, const Mat3& R) {
  return Mat3{absolute(R.x), absolute(R.y), absolute(R.z)} * bound(shape).half;
}

Patchwork patchwork(const PairArguments& pair) {
  const HeightField& f = *pair.b.field;
  const Mat3& R = pair.at_b.R;
  Patchwork p{pair, {}, 0, 0, 0, 0};
  p.in_field = {{transpose_times(R, pair.at_a.R.x), transpose_times(R, pair.at_a.R.y),
                 transpose_times(R, pair.at_a.R.z)},
                transpose_times(R, pair.at_a.p - pair.at_b.p)};
  const Vec3 half = extent_in(pair.a, p.in_field.R), centre = p.in_field * bound(pair.a).centre;
  const double dx = 2 * f.size[0] / (f.columns - 1), dy = 2 * f.size[1] / (f.rows - 1),
               m = std::max(0.0, pair.margin);
  const auto cell = [](double x, double step, int count) {
    return static_cast<int>(clamp(std::floor(x / step), 0, count - 2));
  };
  p.column0 = cell(centre[0] - half[0] - m + f.size[0], dx, f.columns);
  p.column1 = cell(centre[0] + half[0] + m + f.size[0], dx, f.columns);
  p.row0 = cell(centre[1] - half[1] - m + f.size[1], dy, f.rows);
  p.row1 = cell(centre[1] + half[1] + m + f.size[1], dy, f.rows);
  return p;
}

// The shape's lowest point above (or below) one triangle. Overlap is measured along the triangle's normal, so
// that the seams between triangles are not felt.
int on_triangle(const Patchwork& p, int index, ContactPoint& c) {
  const FieldTriangle t = field_triangle(*p.pair.b.field, index);
  const Vec3 n = unit(cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]));
  const Vec3 local = transpose_times(p.in_field.R, n);
  const SupportPoint lowest = support(p.pair.a, -local);
  const Vec3 x = p.in_field * lowest.x - n * core_radius(p.pair.a);
  const double height = dot(n, x - t.corner[0]);
  if (height > p.pair.margin) return 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3 edge = t.corner[(i + 1) % 3] - t.corner[i];
    if (dot(cross(edge, x - t.corner[i]), n) < 0) return 0;
  }
  c = {};
  c.normal = -(p.pair.at_b.R * n);
  c.distance = height;
  c.position = p.pair.at_b * (x - n * (0.5 * height));
  c.feature_a = p.pair.a.type == ShapeType::ellipsoid ? Feature{FeatureKind::surface, 0}
                : p.pair.a.type == ShapeType::cylinder
                    ? Feature{FeatureKind::circle, local[2] > 0 ? 0 : 1}
                    : Feature{FeatureKind::point, std::max(0, lowest.vertex)};
  c.feature_b = {FeatureKind::face, index};
  return 1;
}

// A corner of the grid against the shape, where it is a peak as seen along the normal: no neighbour is
// higher.
int on_peak(const Patchwork& p, int row, int column, ContactPoint& c) {
  const HeightField& f = *p.pair.b.field;
  const Vec3 corner = field_corner(f, row, column);
  const Shape point = Shape::sphere(0.0);
  const Placement at{p.pair.at_b.R, p.pair.at_b * corner};
  Distance d = distance(p.pair.a, p.pair.at_a, point, at, p.pair.margin);
  if (d.beyond) return 0;
  const Vec3 up = -transpose_times(p.pair.at_b.R, d.normal);
  if (up[2] < 0.5) return 0;
  constexpr int steps[6][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, -1}, {-1, 1}};
  for (const auto& step : steps) {
    const int r = row + step[0], k = column + step[1];
    if (r < 0 || k < 0 || r >= f.rows || k >= f.columns) continue;
    const Vec3 edge = field_corner(f, r, k) - corner;
    if (dot(up, edge) > 1e-9 * norm(edge)) return 0;
  }
  d.feature_b = {FeatureKind::point, row * f.columns + column};
  c = contact_of(d);
  return 1;
}

}  // namespace

int height_field_contacts(const PairArguments& pair, ContactPoint* out) {
  const HeightField& f = *pair.b.field;
  if (f.rows < 2 || f.columns < 2) return 0;
  const Patchwork p = patchwork(pair);
  constexpr int room = 64;
  Uncleared<ContactPoint, room> buffer;
  ContactPoint* points = buffer.data();
  int count = 0;
  for (int r = p.row0; r <= p.row1; ++r)
    for (int c = p.column0; c <= p.column1; ++c)
      for (int half = 0; half < 2 && count < room; ++half)
        count += on_triangle(p, 2 * (r * (f.columns - 1) + c) + half, points[count]);
  for (int r = p.row0; r <= p.row1 + 1; ++r)
    for (int c = p.column0; c <= p.column1 + 1 && count < room; ++c) count += on_peak(p, r, c, points[count]);
  count = reduce(points, count);
  std::copy(points, points + count, out);
  return count;
}

}  // namespace articula::collision
