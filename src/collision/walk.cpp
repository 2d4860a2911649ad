#include "walk.hpp"

#include <cmath>

#include "support.hpp"

namespace articula::collision {
namespace {

// Places count as inside up to this part of the size, normals up to this angle.
constexpr double place = 1e-10, angle = 1e-11;

Feature walk_capsule(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size) {
  const double half = shape.size[1];
  if (f.kind == FeatureKind::line)
    return std::abs(x[2]) <= half + place * size ? f : Feature{FeatureKind::point, x[2] > 0 ? 1 : 0};
  const bool outward = f.index ? n[2] >= -angle : n[2] <= angle;
  return outward ? f : Feature{FeatureKind::line, 0};
}

Feature walk_cylinder(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size) {
  const double radius = shape.size[0], half = shape.size[1];
  if (f.kind == FeatureKind::line)
    return std::abs(x[2]) <= half + place * size ? f : Feature{FeatureKind::circle, x[2] > 0 ? 1 : 0};
  if (f.kind == FeatureKind::face)
    return across_z(x) <= radius + place * size ? f : Feature{FeatureKind::circle, f.index};
  const double axial = f.index ? n[2] : -n[2], radial = (n[0] * x[0] + n[1] * x[1]) / radius;
  if (axial < -angle && axial <= radial) return {FeatureKind::line, 0};
  if (radial < -angle) return {FeatureKind::face, f.index};
  return f;
}

int corner_with(int corner, int axis, bool positive) {
  return positive ? corner | 1 << axis : corner & ~(1 << axis);
}

Feature walk_box(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size) {
  const Vec3 half = shape.size;
  int worst = -1;
  double most = 0;
  if (f.kind == FeatureKind::point) {
    for (int i = 0; i < 3; ++i) {
      const double inward = f.index >> i & 1 ? -n[i] : n[i];
      if (inward > std::max(most, angle)) most = inward, worst = i;
    }
    return worst < 0 ? f : Feature{FeatureKind::line, box_edge(worst, f.index)};
  }
  if (f.kind == FeatureKind::line) {
    const int axis = f.index / 4, j = (axis + 1) % 3, k = (axis + 2) % 3;
    const int corner = ((f.index & 1) << j) | ((f.index >> 1 & 1) << k);
    if (std::abs(x[axis]) > half[axis] + place * size)
      return {FeatureKind::point, corner_with(corner, axis, x[axis] > 0)};
    for (const int i : {j, k}) {
      const double inward = corner >> i & 1 ? -n[i] : n[i];
      if (inward > std::max(most, angle)) most = inward, worst = i;
    }
    if (worst < 0) return f;
    const int kept = worst == j ? k : j;  // the face that goes on in the violated direction
    return {FeatureKind::face, 2 * kept + (corner >> kept & 1)};
  }
  const int axis = f.index / 2;
  for (int i = 0; i < 3; ++i) {
    const double beyond = i == axis ? 0.0 : std::abs(x[i]) - half[i];
    if (beyond > std::max(most, place * size)) most = beyond, worst = i;
  }
  if (worst < 0) return f;
  const int corner = corner_with((f.index & 1) << axis, worst, x[worst] > 0);
  return {FeatureKind::line, box_edge(3 - axis - worst, corner)};
}

// ------------------------------------------------------------------------------------------------ meshes

Feature edge_or_face(const Shape& shape, int from, int to, Vec3 n) {
  const int both[2] = {from, to};
  return spanned_feature(shape, both, 2, n);
}

Feature walk_from_vertex(const Shape& shape, Feature f, Vec3 n) {
  const Hull& hull = *shape.hull;
  const Vec3 v = hull.vertices[f.index];
  double steepest = angle;
  int to = -1;
  for (int e = hull.edge_begin[f.index]; e < hull.edge_begin[f.index + 1]; ++e) {
    const Vec3 along = hull.vertices[hull.edge_end[e]] - v;
    const double rise = dot(n, along);
    if (rise > 0 && rise * rise > steepest * steepest * squared_norm(along)) {
      steepest = rise / norm(along);
      to = hull.edge_end[e];
    }
  }
  return to < 0 ? f : edge_or_face(shape, f.index, to, n);
}

Feature walk_from_edge(const Hull& hull, Feature f, Vec3 x, Vec3 n, double size) {
  const int from = hull.edge_start[f.index], to = hull.edge_end[f.index];
  const Vec3 along = hull.vertices[to] - hull.vertices[from];
  const double length = norm(along), t = dot(along, x - hull.vertices[from]) / length;
  if (t < -place * size) return {FeatureKind::point, from};
  if (t > length + place * size) return {FeatureKind::point, to};
  for (int i = hull.around_begin[from]; i < hull.around_begin[from + 1]; ++i) {
    // The faces beside the edge have `to` before or after `from` in their loop.
    const int face = hull.around[i], begin = hull.face_begin[face], end = hull.face_begin[face + 1];
    int at = begin;
    while (hull.face_loop[at] != from) ++at;
    const bool forward = hull.face_loop[at + 1 < end ? at + 1 : begin] == to;
    if (!forward && hull.face_loop[at > begin ? at - 1 : end - 1] != to) continue;
    const Vec3 inward = cross(hull.face_normal[face], forward ? along : -along);
    if (dot(n, inward) > angle * length) return {FeatureKind::face, face};
  }
  return f;
}

Feature walk_from_face(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size) {
  const Hull& hull = *shape.hull;
  const int begin = hull.face_begin[f.index], end = hull.face_begin[f.index + 1];
  double most = place * size;
  int from = -1, to = -1;
  for (int i = begin; i < end; ++i) {
    const int v = hull.face_loop[i], w = hull.face_loop[i + 1 < end ? i + 1 : begin];
    const Vec3 outward = cross(hull.vertices[w] - hull.vertices[v], hull.face_normal[f.index]);
    const double beyond = dot(outward, x - hull.vertices[v]);
    if (beyond > 0 && beyond * beyond > most * most * squared_norm(outward)) {
      most = beyond / norm(outward);
      from = v, to = w;
    }
  }
  return from < 0 ? f : edge_or_face(shape, from, to, n);
}

}  // namespace

Feature walk(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size) {
  switch (shape.type) {
    case ShapeType::capsule: return walk_capsule(shape, f, x, n, size);
    case ShapeType::cylinder: return walk_cylinder(shape, f, x, n, size);
    case ShapeType::box: return walk_box(shape, f, x, n, size);
    case ShapeType::mesh:
      return f.kind == FeatureKind::point  ? walk_from_vertex(shape, f, n)
             : f.kind == FeatureKind::line ? walk_from_edge(*shape.hull, f, x, n, size)
                                           : walk_from_face(shape, f, x, n, size);
    default: return f;
  }
}

}  // namespace articula::collision
