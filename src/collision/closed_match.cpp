#include "closed_match.hpp"

#include <algorithm>

namespace articula::collision {
namespace {

bool is_straight(const Patch& p) { return p.kind == FeatureKind::point || p.kind == FeatureKind::line; }

// ------------------------------------------------------------------------------------------------ faces

// The other side's point with the opposite normal, and its foot on the face.
Match on_face(const Patch& face, const Patch& other, Vec3 guess, bool face_first) {
  Match m;
  const Vec3 f = face.axis;
  if (other.kind == FeatureKind::face) return m;
  if (other.kind == FeatureKind::line && !(std::abs(dot(f, other.axis)) < 1e-12)) return m;
  if (other.kind == FeatureKind::circle) {
    const Vec3 flat = other.axis * dot(other.axis, f) - f;
    if (squared_norm(flat) > 1e-30) guess = other.origin + flat;  // its direction is all that counts
  }
  const Vec3 x = settle(other, guess, -f).x;
  const double height = dot(f, x - face.origin);
  const Vec3 foot = x - f * height;
  m = {face_first ? foot : x, face_first ? x : foot, face_first ? f : -f, height, true};
  return m;
}

// ------------------------------------------------------------------------------------------------ curves

// A point of a curve (or a corner), and the curve's direction there (zero at a corner).
struct CurvePoint {
  Vec3 x, along;
};

// From the nearest points of two curves, w = q.x - p.x across both: the normal is along w, or, where that is
// too short to have an accurate direction, across both curves. Nearly coaxial ones leave w alone.
Match between(const Patch& first, const Patch& second, const CurvePoint& p, const CurvePoint& q, Vec3 guess,
              double size) {
  Match m;
  const Vec3 w = q.x - p.x, across = cross(p.along, q.along);
  const double length = norm(w), sine = norm(across);
  Vec3 n = guess;
  const bool crossing = sine > 1e-12, curves = squared_norm(p.along) > 0 && squared_norm(q.along) > 0;
  if ((length > 1e-9 * size && length > sine * size) || (!crossing && curves && length > 1e-12 * size))
    n = w * (1.0 / length);
  else if (crossing)
    n = across * (1.0 / sine);
  // A short w, or the product of nearly parallel directions, is not exactly across them.
  n -= q.along * dot(q.along, n);
  n = unit(n - p.along * dot(p.along, n));
  if (dot(n, guess) < 0) n = -n;
  const double gap = dot(n, w);
  if (!(squared_norm(w - n * gap) <= 1e-24 * size * size)) return m;
  const double ra = first.kind == FeatureKind::circle ? 0.0 : first.radius;
  const double rb = second.kind == FeatureKind::circle ? 0.0 : second.radius;
  m = {p.x + n * ra, q.x - n * rb, n, gap - ra - rb, true};
  return m;
}

Match straight(const Patch& first, const Patch& second, Vec3 a, Vec3 guess, double size) {
  CurvePoint p{first.origin, first.kind == FeatureKind::line ? first.axis : Vec3()};
  CurvePoint q{second.origin, second.kind == FeatureKind::line ? second.axis : Vec3()};
  const bool lines = first.kind == FeatureKind::line && second.kind == FeatureKind::line;
  const Vec3 r = q.x - p.x, across = cross(p.along, q.along);
  const double sine = squared_norm(across);
  if (lines && sine > 1e-23) {
    p.x += p.along * (dot(cross(r, q.along), across) / sine);
    // From there, not on its own: nearly parallel lines meet at a place that is not accurate along them.
    q.x += q.along * dot(q.along, p.x - q.x);
  } else {
    if (lines) p.x += p.along * dot(p.along, a - p.x);  // parallel: where it is
    q.x += q.along * dot(q.along, p.x - q.x);
    if (!lines) p.x += p.along * dot(p.along, q.x - p.x);
  }
  return between(first, second, p, q, guess, size);
}

// Nearest point of a circle to a point at `x`; false on its axis.
bool nearest_on_circle(const Patch& circle, Vec3 x, double size, Vec3& u, double& distance) {
  const Vec3 r = x - circle.origin, across = r - circle.axis * dot(circle.axis, r);
  distance = norm(across);
  if (!(distance > 1e-12 * size)) return false;
  u = across * (1.0 / distance);
  return true;
}

// The point of the other curve that p has come to, and the curve's direction there.
bool settle_on_curve(const Patch& other, double size, Vec3& p, Vec3& along, Vec3& radial) {
  double unused;
  if (other.kind != FeatureKind::circle) return true;
  if (!nearest_on_circle(other, p, size, radial, unused)) return false;
  p = other.origin + radial * other.radius;
  along = cross(other.axis, radial);
  return true;
}

// A line that touches the circle when seen along its axis, where g'' vanishes: bisection of g' from where the
// line is nearest to the axis.
bool bisect_on_line(const Patch& circle, const Patch& line, double size, Vec3& p) {
  const Vec3 foot = line.origin + line.axis * dot(line.axis, circle.origin - line.origin);
  Vec3 beside;
  double from_axis = 0;
  if (!(std::abs(dot(circle.axis, line.axis)) < 1e-3) ||
      !nearest_on_circle(circle, foot, size, beside, from_axis) ||
      !(std::abs(from_axis - circle.radius) <= 1e-3 * circle.radius))
    return false;
  const auto slope = [&](double t) {
    Vec3 u;
    double rho;
    const Vec3 x = foot + line.axis * t;
    if (!nearest_on_circle(circle, x, size, u, rho)) return 0.0;
    return dot(x - circle.origin - u * circle.radius, line.axis);
  };
  const double at_foot = slope(0), side = at_foot > 0 ? -1 : 1;
  double near = 0, far = 1e-14 * size;
  while (far < size && slope(side * far) * at_foot > 0) near = far, far *= 4;
  if (!(far < size)) return false;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (near + far);
    (slope(side * middle) * at_foot > 0 ? near : far) = middle;
  }
  p = foot + line.axis * (side * near);
  return true;
}

// One unknown, the place p(t) on the other curve. With x(p) the circle's point nearest to p, w = p - x:
//   g = |w|^2/2,   g' = w.p',   g'' = p'.p' - x'.p' + w.p'',   x' = (R/rho) c (c.p'), c the tangent at x
bool newton_on_curve(const Patch& circle, const Patch& other, double size, Vec3& p, Vec3& along) {
  for (int iteration = 0; iteration < 12; ++iteration) {
    Vec3 u, v;  // radial directions on the circle and on the other one
    double rho = 0;
    if (!settle_on_curve(other, size, p, along, v) || !nearest_on_circle(circle, p, size, u, rho))
      return false;
    const Vec3 c = cross(circle.axis, u), w = p - circle.origin - u * circle.radius;
    const double slope = dot(w, along), turn = dot(c, along);
    double curvature = 1 - circle.radius / rho * turn * turn;
    if (other.kind == FeatureKind::circle) curvature -= dot(w, v) / other.radius;
    const double step = -slope / curvature;
    if (!(std::abs(step) < 1e3 * size)) return false;
    p += along * clamp(step, -0.5 * circle.radius, 0.5 * circle.radius);
    // What is left after this step is of the order of its square.
    if (std::abs(slope) <= 1e-15 * size || std::abs(step) <= 1e-9 * size * std::min(curvature, 1.0))
      return (other.kind == FeatureKind::line && std::abs(curvature) < 1e-6 &&
              bisect_on_line(circle, other, size, p)) ||
             settle_on_curve(other, size, p, along, v);
  }
  return false;
}

Match on_circle(const Patch& circle, const Patch& other, Vec3 start, Vec3 guess, double size,
                bool circle_first) {
  Match none;
  Vec3 p = start, along, u;
  double rho = 0;
  if (other.kind == FeatureKind::point) p = other.origin;
  if (other.kind == FeatureKind::line) {
    along = other.axis;
    p = other.origin + along * dot(along, start - other.origin);
  }
  if (other.kind != FeatureKind::point && !newton_on_curve(circle, other, size, p, along) &&
      !(other.kind == FeatureKind::line && bisect_on_line(circle, other, size, p)))
    return none;
  if (!nearest_on_circle(circle, p, size, u, rho)) return none;
  const CurvePoint on{circle.origin + u * circle.radius, cross(circle.axis, u)}, off{p, along};
  return circle_first ? between(circle, other, on, off, guess, size)
                      : between(other, circle, off, on, guess, size);
}

}  // namespace

bool closed_match(const Patch& first, const Patch& second, Vec3 a, Vec3 b, Vec3 n, double size,
                  Match& match) {
  if (first.kind == FeatureKind::face) {
    match = on_face(first, second, b, true);
    return true;
  }
  if (second.kind == FeatureKind::face) {
    match = on_face(second, first, a, false);
    return true;
  }
  if (first.kind == FeatureKind::surface || second.kind == FeatureKind::surface) return false;
  if (is_straight(first) && is_straight(second))
    match = straight(first, second, a, n, size);
  else if (first.kind == FeatureKind::circle)
    match = on_circle(first, second, b, n, size, true);
  else
    match = on_circle(second, first, a, n, size, false);
  return true;
}

}  // namespace articula::collision
