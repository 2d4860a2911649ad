#include "patch.hpp"

#include "features.hpp"

namespace articula::collision {

Patch make_patch(const Shape& shape, const Placement& at, Feature feature) {
  Patch patch;
  patch.kind = feature.kind;
  switch (feature.kind) {
    case FeatureKind::point:
      patch.origin = at * point_of(shape, feature.index);
      patch.radius = feature_radius(shape, feature);
      break;
    case FeatureKind::line: {
      const Segment s = line_of(shape, feature.index);
      patch.origin = at * s.from;
      patch.axis = at.R * unit(s.along);
      patch.radius = feature_radius(shape, feature);
      break;
    }
    case FeatureKind::face: {
      const FacePlane f = face_of(shape, feature.index);
      patch.origin = at * f.point;
      patch.axis = at.R * f.normal;
      break;
    }
    case FeatureKind::circle: {
      const double side = feature.index ? 1.0 : -1.0;
      patch.origin = at * Vec3(0, 0, side * shape.size[1]);
      patch.axis = at.R.z * side;
      patch.radius = shape.size[0];
      break;
    }
    case FeatureKind::surface:
      patch.origin = at.p;
      patch.axes = at.R;
      patch.radii = shape.size;
      break;
  }
  return patch;
}

namespace {

Vec3 ellipsoid_point(const Patch& patch, Vec3 n) {
  const Vec3 sn = elementwise(patch.radii, transpose_times(patch.axes, n));
  return patch.origin + patch.axes * (elementwise(patch.radii, sn) * (1.0 / norm(sn)));
}

// Radial direction of a point about a circle's axis; any if the point is on the axis.
Vec3 radial(const Patch& patch, Vec3 x) {
  const Vec3 r = x - patch.origin;
  const Vec3 across = r - patch.axis * dot(patch.axis, r);
  return squared_norm(across) > 0 ? unit(across) : any_across(patch.axis);
}

}  // namespace

SurfacePoint settle(const Patch& patch, Vec3 x, Vec3 n) {
  switch (patch.kind) {
    case FeatureKind::point: n = unit(n); return {patch.origin + n * patch.radius, n};
    case FeatureKind::line: {
      const double t = dot(patch.axis, x - patch.origin);
      const Vec3 across = n - patch.axis * dot(patch.axis, n);
      n = squared_norm(across) > 0 ? unit(across) : any_across(patch.axis);
      return {patch.origin + patch.axis * t + n * patch.radius, n};
    }
    case FeatureKind::face: return {x - patch.axis * dot(patch.axis, x - patch.origin), patch.axis};
    case FeatureKind::circle: {
      const Vec3 u = radial(patch, x);
      const Vec3 along = cross(patch.axis, u);
      const Vec3 flat = n - along * dot(along, n);
      return {patch.origin + u * patch.radius, squared_norm(flat) > 0 ? unit(flat) : u};
    }
    case FeatureKind::surface: n = unit(n); return {ellipsoid_point(patch, n), n};
  }
  return {x, n};
}

void tangent_map(const Patch& patch, const SurfacePoint& at, const Basis& T, Mat2& C, Mat2& D) {
  switch (patch.kind) {
    case FeatureKind::point:
      C = {patch.radius, 0, 0, patch.radius};
      D = {1, 0, 0, 1};
      return;
    case FeatureKind::face:
      C = {1, 0, 0, 1};
      D = {};
      return;
    case FeatureKind::line: {
      const Vec2 e = T.of(patch.axis);
      const double s = 1.0 / (e.x * e.x + e.y * e.y);  // 1 but for n not yet quite across e
      C = {e.x * e.x * s, e.x * e.y * s, e.x * e.y * s, e.y * e.y * s};
      D = {C.yy, -C.xy, -C.xy, C.xx};
      C = C + D * patch.radius;
      return;
    }
    case FeatureKind::circle: {
      const Vec3 u = radial(patch, at.x);
      const Vec2 c = T.of(cross(patch.axis, u));
      const double s = 1.0 / (c.x * c.x + c.y * c.y);
      C = {c.x * c.x * s, c.x * c.y * s, c.x * c.y * s, c.y * c.y * s};
      D = C * (dot(at.n, u) / patch.radius) + Mat2{C.yy, -C.xy, -C.xy, C.xx};
      return;
    }
    case FeatureKind::surface: {
      // h(n) = |S n|,  Hessian (S^2 - x x^T)/h with x = S^2 n/h
      const Vec3 S = patch.radii, n = transpose_times(patch.axes, at.n);
      const double h = norm(elementwise(S, n));
      const Vec3 x = elementwise(S, elementwise(S, n)) * (1.0 / h);
      const Vec3 t1 = transpose_times(patch.axes, T.t1), t2 = transpose_times(patch.axes, T.t2);
      const Vec3 s1 = elementwise(S, t1), s2 = elementwise(S, t2);
      const double x1 = dot(x, t1), x2 = dot(x, t2);
      const double c12 = (dot(s1, s2) - x1 * x2) / h;
      C = {(dot(s1, s1) - x1 * x1) / h, c12, c12, (dot(s2, s2) - x2 * x2) / h};
      D = {1, 0, 0, 1};
      return;
    }
  }
}

}  // namespace articula::collision
