#include "candidates.hpp"

#include "support.hpp"

namespace articula::collision {
namespace {

Feature likeliest_of_cylinder(const Shape& shape, const Ending& e) {
  const int cap = e.n[2] > 0 ? 1 : 0;
  if (std::abs(e.x[2]) < 0.999 * shape.size[1]) return {FeatureKind::line, 0};
  const bool on_cap = across_z(e.x) < 0.98 * shape.size[0] && across_z(e.n) < 0.2;
  return on_cap ? Feature{FeatureKind::face, cap} : Feature{FeatureKind::circle, cap};
}

void cylinder_candidates(const Shape& shape, const Ending& e, Candidates& c) {
  const int cap = e.n[2] > 0 ? 1 : 0;
  c.add(likeliest_of_cylinder(shape, e));
  if (across_z(e.x) < 0.98 * shape.size[0] && across_z(e.n) < 0.2) c.add({FeatureKind::face, cap});
  c.add({FeatureKind::circle, cap});
  c.add({FeatureKind::line, 0});
  c.add({FeatureKind::face, cap});
  c.add({FeatureKind::circle, 1 - cap});
}

void polyhedron_candidates(const Shape& shape, const Ending& e, Candidates& c) {
  for (int k = e.count; k >= 1; --k) c.add(spanned_feature(shape, e.vertices, k, e.n));
  if (e.count == 3)
    for (int skip = 0; skip < 2; ++skip) {
      const int pair[2] = {e.vertices[skip == 0 ? 1 : 0], e.vertices[2]};
      c.add(spanned_feature(shape, pair, 2, e.n));
    }
  const int face = nearest_face(shape, e.n, e.vertices[0]);
  if (face >= 0) c.add({FeatureKind::face, face});
}

bool inside_polygon(const Hull& hull, int face, Vec3 x, double tolerance) {
  const int begin = hull.face_begin[face], end = hull.face_begin[face + 1];
  for (int i = begin; i < end; ++i) {
    const Vec3 from = hull.vertices[hull.face_loop[i]];
    const Vec3 to = hull.vertices[hull.face_loop[i + 1 < end ? i + 1 : begin]];
    const Vec3 outward = cross(to - from, hull.face_normal[face]);
    if (dot(outward, x - from) > tolerance * norm(outward)) return false;
  }
  return true;
}

}  // namespace

Feature likeliest(const Shape& shape, const Ending& ending) {
  if (shape.type == ShapeType::cylinder) return likeliest_of_cylinder(shape, ending);
  return spanned_feature(shape, ending.vertices, ending.count, ending.n);
}

Candidates candidates(const Shape& shape, const Ending& ending) {
  Candidates c;
  if (shape.type == ShapeType::cylinder)
    cylinder_candidates(shape, ending, c);
  else if (shape.type == ShapeType::ellipsoid)
    c.add({FeatureKind::surface, 0});
  else
    polyhedron_candidates(shape, ending, c);
  return c;
}

bool lies_on(const Shape& shape, Feature feature, Vec3 x, double tolerance) {
  if (feature.kind == FeatureKind::line) {
    const Segment s = line_of(shape, feature.index);
    const double length = norm(s.along), t = dot(s.along, x - s.from) / length;
    return t >= -tolerance && t <= length + tolerance;
  }
  if (feature.kind != FeatureKind::face) return true;
  const Vec3 size = shape.size;
  switch (shape.type) {
    case ShapeType::box:
      return std::abs(x[0]) <= size[0] + tolerance && std::abs(x[1]) <= size[1] + tolerance &&
             std::abs(x[2]) <= size[2] + tolerance;
    case ShapeType::cylinder: return across_z(x) <= size[0] + tolerance;
    case ShapeType::mesh: return inside_polygon(*shape.hull, feature.index, x, tolerance);
    default: return true;
  }
}

}  // namespace articula::collision
