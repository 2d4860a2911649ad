#include "bulge.hpp"

#include <cmath>

namespace articula::collision {

bool is_flat(const Shape& shape, Feature f, double size) {
  if (f.kind != FeatureKind::face || shape.type != ShapeType::mesh) return true;
  const Hull& hull = *shape.hull;
  const int begin = hull.face_begin[f.index], end = hull.face_begin[f.index + 1];
  if (end - begin == 3) return true;
  const Vec3 n = hull.face_normal[f.index];
  for (int i = begin; i < end; ++i)
    if (!(std::abs(dot(n, hull.vertices[hull.face_loop[i]]) - hull.face_offset[f.index]) <= 1e-13 * size))
      return false;
  return true;
}

bool BulgePart::holds(Vec3 x, double tolerance) const {
  if (patch.kind == FeatureKind::line) {
    const Vec3 along = corner[1] - corner[0];
    const double length = norm(along), t = dot(along, x - corner[0]) / length;
    return t >= -tolerance && t <= length + tolerance;
  }
  const Vec3 n = cross(corner[1] - corner[0], corner[2] - corner[0]);
  for (int i = 0; i < 3; ++i) {
    const Vec3 outward = cross(corner[(i + 1) % 3] - corner[i], n);
    if (dot(outward, x - corner[i]) > tolerance * norm(outward)) return false;
  }
  return true;
}

BulgeParts bulge_parts(const Shape& shape, const Placement& at, int face) {
  const Hull& hull = *shape.hull;
  const int begin = hull.face_begin[face], corners = hull.face_begin[face + 1] - begin;
  const auto corner = [&](int i) { return hull.vertices[hull.face_loop[begin + i]]; };
  BulgeParts parts;
  const auto add = [&](FeatureKind kind, Vec3 axis, Vec3 a, Vec3 b, Vec3 c) {
    if (parts.count == BulgeParts::room) return;
    BulgePart& part = parts.list[parts.count++];
    part.patch.kind = kind;
    part.patch.origin = at * a;
    part.patch.axis = at.R * axis;
    part.corner[0] = a, part.corner[1] = b, part.corner[2] = c;
  };
  for (int i = 0; i < corners; ++i)
    for (int j = i + 1; j < corners; ++j)
      for (int k = j + 1; k < corners; ++k) {
        const Vec3 product = cross(corner(j) - corner(i), corner(k) - corner(i));
        const double area = norm(product);
        if (!(area > 1e-12 * hull.radius * hull.radius)) continue;
        const Vec3 n = product * (1.0 / area);
        bool highest = true;
        for (int m = 0; m < corners; ++m) highest &= dot(n, corner(m) - corner(i)) <= 1e-14 * hull.radius;
        if (highest) add(FeatureKind::face, n, corner(i), corner(j), corner(k));
      }
  for (int i = 0; i < corners; ++i)
    for (int j = i + 2; j < corners; ++j)
      add(FeatureKind::line, unit(corner(j) - corner(i)), corner(i), corner(j), corner(j));
  return parts;
}

}  // namespace articula::collision
