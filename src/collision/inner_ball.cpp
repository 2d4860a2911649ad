#include "inner_ball.hpp"

#include <algorithm>

#include "features.hpp"

namespace articula::collision {
namespace {

// Distance of a point of a face from the nearest edge.
double inside_of_polygon(const Hull& hull, int face, Vec3 x) {
  double least = INFINITY;
  const int begin = hull.face_begin[face], end = hull.face_begin[face + 1];
  for (int i = begin; i < end; ++i) {
    const Vec3 from = hull.vertices[hull.face_loop[i]];
    const Vec3 to = hull.vertices[hull.face_loop[i + 1 < end ? i + 1 : begin]];
    const Vec3 inward = cross(hull.face_normal[face], to - from);
    least = std::min(least, dot(inward, x - from) / norm(inward));
  }
  return least;
}

// Ball that touches a disc of radius s at its middle x, in the cone over it with its apex at c. The side
// opposite to where the apex leans limits it:
//   r = s tan(phi/2),   tan(phi) = (depth of c)/(s + offset of c)
double ball_in_cone(double s, Vec3 x, Vec3 n, Vec3 c) {
  const Vec3 to = x - c;
  const double depth = dot(n, to), along = s + norm(to - n * depth);
  if (!(s > 0 && depth > 0)) return 0;
  return s * depth / (std::sqrt(depth * depth + along * along) + along);
}

// The largest ball in a hull that touches one of its faces at x. With its centre at x - r n every plane
// n_f . y = o_f leaves it room:   r (1 - n_f.n) <= o_f - n_f.x
// Of interest only above `least`; the cone over a triangle may do, and is found sooner. Polygons may be flat
// only to the angle within which triangles are merged: they leave a little less.
double ball_in_hull(const Hull& hull, int face, Vec3 x, Vec3 n, double least) {
  const auto is_triangle = [&](int f) { return hull.triangle_begin[f + 1] - hull.triangle_begin[f] == 1; };
  if (is_triangle(face)) {
    const double in_cone = ball_in_cone(inside_of_polygon(hull, face, x), x, n, hull.inside);
    if (in_cone >= least) return in_cone;
  }
  const double bulge = 2e-5 * hull.radius;
  double r = hull.radius;
  for (int f = 0; f < hull.face_count(); ++f) {
    if (f == face) continue;
    const Vec3 m = hull.face_normal[f];
    const double room = hull.face_offset[f] - dot(m, x) - (is_triangle(f) ? 0.0 : bulge);
    const double lean = 1 - dot(m, n);
    if (room < least * lean) return 0;
    if (room < r * lean) r = room / lean;
  }
  return r;
}

double ball_under_box_face(Vec3 half, int axis, Vec3 x) {
  double r = half[axis];
  for (int i = 0; i < 3; ++i)
    if (i != axis) r = std::min(r, half[i] - std::abs(x[i]));
  return r;
}

double ball_in_cylinder(Vec3 size, FeatureKind kind, Vec3 x) {
  if (kind == FeatureKind::line) return std::min(size[0], size[1] - std::abs(x[2]));
  if (kind == FeatureKind::face) return std::min(size[0] - across_z(x), size[1]);
  return 0;
}

// Of one core, at the surface point x with outward normal n, all in its frame; of a hull only if it is not
// less than `least`.
double ball_in_shape(const Shape& shape, Feature f, Vec3 x, Vec3 n, double least) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::ellipsoid: {
      // The least radius of curvature: such a ball rolls all around inside.
      const double thin = std::min({s[0], s[1], s[2]});
      return thin * thin / std::max({s[0], s[1], s[2]});
    }
    case ShapeType::cylinder: return ball_in_cylinder(s, f.kind, x);
    case ShapeType::box: return f.kind == FeatureKind::face ? ball_under_box_face(s, f.index / 2, x) : 0;
    case ShapeType::mesh:
      return f.kind == FeatureKind::face ? ball_in_hull(*shape.hull, f.index, x, n, least) : 0;
    default: return 0;
  }
}

// A disc swept along an edge: a cylinder whose cross-section has half axes R and R c, c = |e . axis|, between
// two discs. Its least radius of curvature is R c^2.
double swept_disc(const Shape& cylinder, const Placement& at, const Shape& other, const Placement& at_other,
                  int line, Vec3 x, Vec3 n) {
  const Segment segment = line_of(other, line);
  const double length = norm(segment.along);
  const Vec3 e = segment.along * (1.0 / length);
  const double t = dot(e, transpose_times(at_other.R, x - at_other.p) - segment.from);
  const double c = std::abs(dot(at_other.R * e, at.R.z));
  const double ends = std::min(t, length - t) * c / (1 + std::abs(dot(n, at.R.z)));
  return std::min(cylinder.size[0] * c * c, ends);
}

}  // namespace

double inner_ball(const ConvexPair& pair, const ConvexDistance& s) {
  const Placement at_a, &at_b = pair.b_in_a;
  const double depth = -s.distance;
  const Vec3 x_b = transpose_times(at_b.R, s.b - at_b.p), n_b = transpose_times(at_b.R, -s.normal);
  const auto of_a = [&](double least) { return ball_in_shape(*pair.a, s.feature_a, s.a, s.normal, least); };
  const auto of_b = [&](double least) { return ball_in_shape(*pair.b, s.feature_b, x_b, n_b, least); };
  if (s.feature_a.kind == FeatureKind::circle && s.feature_b.kind == FeatureKind::line)
    return std::max(of_b(depth), swept_disc(*pair.a, at_a, *pair.b, at_b, s.feature_b.index, s.b, s.normal));
  if (s.feature_b.kind == FeatureKind::circle && s.feature_a.kind == FeatureKind::line)
    return std::max(of_a(depth), swept_disc(*pair.b, at_b, *pair.a, at_a, s.feature_a.index, s.a, s.normal));
  // Hulls last: what they need not contribute is known then.
  const bool hull_first = pair.a->type == ShapeType::mesh;
  const double first = hull_first ? of_b(depth) : of_a(depth);
  return first + (hull_first ? of_a(depth - first) : of_b(depth - first));
}

}  // namespace articula::collision
