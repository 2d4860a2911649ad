#include "articula/collision/derivatives.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// f(n) = (r³ (n_y² + n_z²), 0, n_x²) is along n at +-(r, 0, 1) only. Without n_y, or without n_x, its part
// across n lies in the plane of n and z, or is x: floors, walls and what is tilted about x or y have tangents
// along and across the slope. The pole is at a slope of 68 degrees, where few things are.
constexpr double r = 2.5;
const Vec3 pole = unit(Vec3(r, 0.0, 1.0));

Vec3 field(Vec3 n) { return Vec3(r * r * r * (n[1] * n[1] + n[2] * n[2]), 0.0, n[0] * n[0]); }

Vec3 field_rate(Vec3 n, Vec3 dn) {
  return Vec3(2.0 * r * r * r * (n[1] * dn[1] + n[2] * dn[2]), 0.0, 2.0 * n[0] * dn[0]);
}

}  // namespace

ContactFrame cone_frame(Vec3 n) {
  const Vec3 t = any_across(n);
  return {n, t, cross(n, t)};
}

ContactFrame cone_frame_rate(const ContactFrame& f, Vec3 dn) {
  return {dn, f.n * -dot(f.t1, dn), f.n * -dot(f.t2, dn)};
}

bool near_pole(Vec3 n) { return norm(cross(n, pole)) < pole_angle; }

// t1 = g/|g|,  g = f - n (n . f)
ContactFrame pyramid_frame(Vec3 n) {
  const Vec3 f = field(n);
  const Vec3 g = f - n * dot(n, f);
  const Vec3 t = squared_norm(g) > 1e-24 ? unit(g) : any_across(n);
  return {n, t, cross(n, t)};
}

// dg = df - dn (n . f) - n (dn . f + n . df),  dt1 = (dg - t1 (t1 . dg))/|g|
ContactFrame pyramid_frame_rate(const ContactFrame& frame, Vec3 dn) {
  const Vec3 f = field(frame.n), df = field_rate(frame.n, dn);
  const double along = dot(frame.n, f), length = norm(f - frame.n * along);
  if (!(length > 1e-12)) return cone_frame_rate(frame, dn);
  const Vec3 dg = df - dn * along - frame.n * (dot(dn, f) + dot(frame.n, df));
  const Vec3 dt1 = (dg - frame.t1 * dot(frame.t1, dg)) * (1.0 / length);
  return {dn, dt1, cross(dn, frame.t1) + cross(frame.n, dt1)};
}

}  // namespace articula::collision
