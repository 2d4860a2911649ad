#include "articula/collision/derivatives.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// Off the axes and the diagonals, where robots and floors like to be.
const Vec3 fixed_direction = unit(Vec3(0.8137, 0.4583, 0.3571));

}  // namespace

ContactFrame cone_frame(Vec3 n) {
  const Vec3 t = any_across(n);
  return {n, t, cross(n, t)};
}

ContactFrame cone_frame_rate(const ContactFrame& f, Vec3 dn) {
  return {dn, f.n * -dot(f.t1, dn), f.n * -dot(f.t2, dn)};
}

bool near_pole(Vec3 n) { return norm(cross(n, fixed_direction)) < pole_angle; }

// t1 = g/|g|,  g = f - n (n . f)
ContactFrame pyramid_frame(Vec3 n) {
  const Vec3 g = fixed_direction - n * dot(n, fixed_direction);
  const Vec3 t = squared_norm(g) > 1e-24 ? unit(g) : any_across(n);
  return {n, t, cross(n, t)};
}

// dg = -dn (n . f) - n (dn . f),  dt1 = (dg - t1 (t1 . dg))/|g|
ContactFrame pyramid_frame_rate(const ContactFrame& frame, Vec3 dn) {
  const Vec3 f = fixed_direction;
  const double along = dot(frame.n, f), length = norm(f - frame.n * along);
  if (!(length > 1e-12)) return cone_frame_rate(frame, dn);
  const Vec3 dg = -(dn * along) - frame.n * dot(dn, f);
  const Vec3 dt1 = (dg - frame.t1 * dot(frame.t1, dg)) * (1.0 / length);
  return {dn, dt1, cross(dn, frame.t1) + cross(frame.n, dt1)};
}

}  // namespace articula::collision
