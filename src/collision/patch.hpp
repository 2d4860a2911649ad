#pragma once
// A piece of surface near a contact: where it is, which way it faces, and how both change along it.
//
// The surface points x with their outward normals n form a two-parameter family, also at corners and edges,
// where n turns while x stays. Its tangent, in an orthonormal basis T = (t1, t2) across n, is
//     dx = T C s,   dn = T D s,    s in R^2
// with C, D the 2x2 matrices
//     point: 0, 1     line along e: e e^T, 1 - e e^T     face: 1, 0     ellipsoid: Hessian of its support, 1
//     circle of radius rho: c c^T, (n.u/rho) c c^T + (1 - c c^T), c its tangent, u its radial direction
// and an offset by a radius r adds r D to C. Both distance solves and derivatives need only this.

#include "articula/collision/shape.hpp"
#include "vector.hpp"

namespace articula::collision {

// [xx xy; yx yy]
struct Mat2 {
  double xx = 0, xy = 0, yx = 0, yy = 0;
};
struct Vec2 {
  double x = 0, y = 0;
};
inline Mat2 operator+(const Mat2& a, const Mat2& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.yx + b.yx, a.yy + b.yy};
}
inline Mat2 operator*(const Mat2& a, double s) { return {a.xx * s, a.xy * s, a.yx * s, a.yy * s}; }
inline Mat2 operator*(const Mat2& a, const Mat2& b) {
  return {a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy, a.yx * b.xx + a.yy * b.yx,
          a.yx * b.xy + a.yy * b.yy};
}
inline Vec2 operator*(const Mat2& a, Vec2 b) { return {a.xx * b.x + a.xy * b.y, a.yx * b.x + a.yy * b.y}; }
inline Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
inline Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
inline Vec2 operator*(Vec2 a, double s) { return {a.x * s, a.y * s}; }

struct Basis {
  Vec3 t1, t2;
  explicit Basis(Vec3 n) : t1(any_across(n)), t2(cross(n, t1)) {}
  Vec2 of(Vec3 v) const { return {dot(t1, v), dot(t2, v)}; }
  Vec3 span(Vec2 s) const { return t1 * s.x + t2 * s.y; }
};

struct Patch {
  FeatureKind kind = FeatureKind::point;
  Vec3 origin;          // the point; a point of the line or face; centre of circle or ellipsoid
  Vec3 axis;            // line: unit direction; face: outward normal; circle: axis, outward
  double radius = 0.0;  // point, line: offset; circle: its own
  Mat3 axes;            // ellipsoid
  Vec3 radii;
};

struct SurfacePoint {
  Vec3 x, n;
};

// The feature of a shape placed at `at`.
Patch make_patch(const Shape& shape, const Placement& at, Feature feature);

// The patch's point and normal that belong to a nearby point and normal.
SurfacePoint settle(const Patch& patch, Vec3 x, Vec3 n);

// C and D at a settled point, in a basis across +-n.
void tangent_map(const Patch& patch, const SurfacePoint& at, const Basis& T, Mat2& C, Mat2& D);

}  // namespace articula::collision
