#include "inner_ball.hpp"

#include <algorithm>

#include "features.hpp"

namespace articula::collision {
namespace {

// Ball in the cone over a disc of radius s about x, its apex at c: the side that leans out most limits it.
//   r = s/tan(phi/2),   phi = pi/2 + lean,   tan(lean) = (offset of c - s)/depth of c
double ball_in_cone(double s, Vec3 x, Vec3 n, Vec3 c) {
  const Vec3 to = x - c;
  const double depth = dot(n, to), offset = norm(to - n * depth);
  if (!(s > 0 && depth > 0)) return 0;
  const double lean = offset - s;
  // tan(phi/2) = (1 + sin lean)/cos lean
  return s * depth / (std::sqrt(depth * depth + lean * lean) + lean);
}

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

// Of one core, at the surface point x with outward normal n, all in its frame.
double ball_in_shape(const Shape& shape, Feature f, Vec3 x, Vec3 n) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::ellipsoid: {
      // The least radius of curvature: such a ball rolls all around inside.
      const double least = std::min({s[0], s[1], s[2]});
      return least * least / std::max({s[0], s[1], s[2]});
    }
    case ShapeType::cylinder: return ball_in_cylinder(s, f.kind, x);
    case ShapeType::box: return f.kind == FeatureKind::face ? ball_under_box_face(s, f.index / 2, x) : 0;
    case ShapeType::mesh:
      if (f.kind != FeatureKind::face) return 0;
      return ball_in_cone(inside_of_polygon(*shape.hull, f.index, x), x, n, shape.hull->inside);
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
  const Vec3 x_b = transpose_times(at_b.R, s.b - at_b.p), n_b = transpose_times(at_b.R, -s.normal);
  if (s.feature_a.kind == FeatureKind::circle && s.feature_b.kind == FeatureKind::line)
    return std::max(ball_in_shape(*pair.b, s.feature_b, x_b, n_b),
                    swept_disc(*pair.a, at_a, *pair.b, at_b, s.feature_b.index, s.b, s.normal));
  if (s.feature_b.kind == FeatureKind::circle && s.feature_a.kind == FeatureKind::line)
    return std::max(ball_in_shape(*pair.a, s.feature_a, s.a, s.normal),
                    swept_disc(*pair.b, at_b, *pair.a, at_a, s.feature_a.index, s.a, s.normal));
  return ball_in_shape(*pair.a, s.feature_a, s.a, s.normal) + ball_in_shape(*pair.b, s.feature_b, x_b, n_b);
}

}  // namespace articula::collision
