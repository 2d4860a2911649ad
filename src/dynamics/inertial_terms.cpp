#include "inertial_terms.hpp"

namespace articula {

namespace {

Mat3 symmetric(const double* six) {
  return {Vec3(six[0], six[1], six[2]), Vec3(six[1], six[3], six[4]), Vec3(six[2], six[4], six[5])};
}

// The six numbers' share of  a^T I b  (a and b in the body's axes).
void add_symmetric(double* six, Vec3 a, Vec3 b) {
  six[0] += a[0] * b[0];
  six[1] += a[0] * b[1] + a[1] * b[0];
  six[2] += a[0] * b[2] + a[2] * b[0];
  six[3] += a[1] * b[1];
  six[4] += a[1] * b[2] + a[2] * b[1];
  six[5] += a[2] * b[2];
}

void add3(double* to, Vec3 a) {
  for (int i = 0; i < 3; ++i) to[i] += a[i];
}

}  // namespace

BodyMotion body_motion(const Model& model, const Data& data, int body) {
  const int k = model.structure().bodies[body].link;
  const Placement& in_link = model.constants().body_in_link[body];
  BodyMotion m;
  m.R = data.link_R[k] * in_link.R;
  m.r = data.link_r[k] + data.link_R[k] * in_link.p;
  const Motion &v = data.link_v[k], &a = data.link_a[k];
  const Vec3 A = a.linear + cross(a.angular, m.r) + cross(v.angular, point_velocity(v, m.r));
  m.w = transpose_times(m.R, v.angular);
  m.alpha = transpose_times(m.R, a.angular);
  m.A = transpose_times(m.R, A);
  return m;
}

Force inertial_wrench(const BodyMotion& m, const double* pi) {
  const Vec3 h = load3(pi + 1);
  const Mat3 I = symmetric(pi + 4);
  const Vec3 force = m.A * pi[0] + cross(m.alpha, h) + cross(m.w, cross(m.w, h));
  const Vec3 moment = cross(h, m.A) + I * m.alpha + cross(m.w, I * m.w);
  return shifted(Force{m.R * moment, m.R * force}, m.r);
}

// Y . wrench, with Y's angular part y and linear part u at the body's origin, in its axes:
//   m: u . A      h: u x alpha + w x (w x u) + A x y      I: y alpha^T + (y x w) w^T
void add_inertial_covector(const BodyMotion& m, const Motion& Y, double* pi_bar) {
  const Vec3 y = transpose_times(m.R, Y.angular), u = transpose_times(m.R, point_velocity(Y, m.r));
  pi_bar[0] += dot(u, m.A);
  add3(pi_bar + 1, cross(u, m.alpha) + cross(m.w, cross(m.w, u)) + cross(m.A, y));
  add_symmetric(pi_bar + 4, y, m.alpha);
  add_symmetric(pi_bar + 4, cross(y, m.w), m.w);
}

Inertia inertia_change(const BodyMotion& m, const double* dpi) {
  return shifted(rotated({symmetric(dpi + 4), load3(dpi + 1), dpi[0]}, m.R), m.r);
}

// By w and a shift s:  dh = w x h + m s,   dI = [w]x I + ([w]x I)^T + 2 (s . h) 1 - s h^T - h s^T
Inertia inertia_change(const Inertia& inertia, const Motion& displacement) {
  const Vec3 w = displacement.angular, s = displacement.linear, h = inertia.moment;
  const Mat3 turned = cross(w, inertia.rotational);
  Mat3 rotational = turned + transpose(turned) - outer(s, h) - outer(h, s);
  rotational += Mat3::diagonal(2.0 * dot(s, h));
  return {rotational, cross(w, h) + s * inertia.mass, 0.0};
}

// `shifted` and `rotated` are linear in the body's numbers; this is their transpose.
void add_inertia_covector(const BodyMotion& m, const Inertia& g, double* pi_bar) {
  // About the body's origin: h' = h + m r, I' = I + 2 (r.h) - r h^T - h r^T + m (r^2 - r r^T)
  const double trace_g = trace(g.rotational);
  const Vec3 symmetric_r = g.rotational * m.r + transpose_times(g.rotational, m.r);
  const Vec3 h_bar = g.moment + m.r * (2.0 * trace_g) - symmetric_r;
  pi_bar[0] += g.mass + dot(g.moment, m.r) + trace_g * squared_norm(m.r) - 0.5 * dot(m.r, symmetric_r);
  add3(pi_bar + 1, transpose_times(m.R, h_bar));
  const Mat3 in_body = transpose(m.R) * g.rotational * m.R;
  add_symmetric(pi_bar + 4, Vec3(1, 0, 0), transpose(in_body).x);
  add_symmetric(pi_bar + 4, Vec3(0, 1, 0), transpose(in_body).y);
  add_symmetric(pi_bar + 4, Vec3(0, 0, 1), transpose(in_body).z);
}

// Transpose of inertia_change(inertia, displacement): with G = g + g^T,
//   w: axial(G I) + h x g_h,     s: m g_h + 2 tr(g) h - G h
Force inertia_covector(const Inertia& inertia, const Inertia& g) {
  const Mat3 G = g.rotational + transpose(g.rotational);
  // g : ([w]x I + ([w]x I)^T) = sum_c (w x I_c) . G_c = w . sum_c I_c x G_c
  const Vec3 turn =
      cross(inertia.rotational.x, G.x) + cross(inertia.rotational.y, G.y) + cross(inertia.rotational.z, G.z);
  const Vec3 h = inertia.moment;
  return {turn + cross(h, g.moment), g.moment * inertia.mass + h * (2.0 * trace(g.rotational)) - G * h};
}

}  // namespace articula
