#include "bulge.hpp"

#include <cmath>

namespace articula::collision {
namespace {

// Whether an edge of one of a face's triangles borders another of them.
bool is_inner(const Hull& hull, int face, int from, int to) {
  for (int i = hull.triangle_begin[face]; i < hull.triangle_begin[face + 1]; ++i)
    for (int k = 0; k < 3; ++k)
      if (hull.triangle[i][k] == to && hull.triangle[i][(k + 1) % 3] == from) return true;
  return false;
}

}  // namespace

bool is_flat(const Shape& shape, Feature f, double size) {
  if (f.kind != FeatureKind::face || shape.type != ShapeType::mesh) return true;
  const Hull& hull = *shape.hull;
  const int begin = hull.triangle_begin[f.index], end = hull.triangle_begin[f.index + 1];
  if (end - begin == 1) return true;
  const Vec3 n = hull.face_normal[f.index];
  for (int i = begin; i < end; ++i)
    for (const int v : hull.triangle[i])
      if (!(std::abs(dot(n, hull.vertices[v]) - hull.face_offset[f.index]) <= 1e-13 * size)) return false;
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
  const int begin = hull.triangle_begin[face], end = hull.triangle_begin[face + 1];
  BulgeParts parts;
  const auto add = [&](FeatureKind kind, Vec3 axis, Vec3 a, Vec3 b, Vec3 c) {
    if (parts.count == BulgeParts::room) return;
    BulgePart& part = parts.list[parts.count++];
    part.patch.kind = kind;
    part.patch.origin = at * a;
    part.patch.axis = at.R * axis;
    part.corner[0] = a, part.corner[1] = b, part.corner[2] = c;
  };
  for (int i = begin; i < end; ++i) {
    const Vec3 a = hull.vertices[hull.triangle[i][0]], b = hull.vertices[hull.triangle[i][1]],
               c = hull.vertices[hull.triangle[i][2]];
    const Vec3 product = cross(b - a, c - a);
    const double area = norm(product);
    if (area > 1e-12 * hull.radius * hull.radius) add(FeatureKind::face, product * (1.0 / area), a, b, c);
  }
  // Every edge between two of them, once: from the lower to the higher of its corners.
  for (int i = begin; i < end; ++i)
    for (int k = 0; k < 3; ++k) {
      const int from = hull.triangle[i][k], to = hull.triangle[i][(k + 1) % 3];
      if (from < to && is_inner(hull, face, from, to))
        add(FeatureKind::line, unit(hull.vertices[to] - hull.vertices[from]), hull.vertices[from],
            hull.vertices[to], hull.vertices[to]);
    }
  return parts;
}

}  // namespace articula::collision
