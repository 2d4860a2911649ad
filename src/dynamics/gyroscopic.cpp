#include "articula/dynamics/gyroscopic.hpp"

#include <Eigen/LU>

namespace articula {

GyroscopicTerm implicit_gyroscopic(const Mat3& about_com, Vec3 w, double h) {
  const Vec3 Iw = about_com * w;
  const Vec3 g = cross(w, Iw);
  const Mat3 J = cross(w, about_com) - skew(Iw);  // dg/dw
  const Mat3 A = about_com + J * h;
  const Mat3 inverse = Mat3::from(A.eigen().inverse());
  const Vec3 y = inverse * g;  // A y = g
  const Mat3 scaled = about_com * inverse;
  // d(A y) = dg:  A dy = J dw - h dJ y,  dJ y = dw x (I y) - (I dw) x y = (-[I y]x + [y]x I) dw
  const Mat3 dJ_y = cross(y, about_com) - skew(about_com * y);
  return {about_com * y - g, scaled * (J - dJ_y * h) - J};
}

namespace {

// A = I + h J and the solution of A y = w x I w.
struct ImplicitSystem {
  Mat3 inverse;
  Vec3 y;
  ImplicitSystem(const Mat3& I, Vec3 w, double h) {
    const Vec3 Iw = I * w;
    const Mat3 A = I + (cross(w, I) - skew(Iw)) * h;
    inverse = Mat3::from(A.eigen().inverse());
    y = inverse * cross(w, Iw);
  }
};

}  // namespace

// torque = I y - g:  A dy = dg - dA y,  dg = w x dI w,  dA y = dI y + h (w x dI y - (dI w) x y)
Vec3 gyroscopic_inertia_change(const Mat3& I, Vec3 w, double h, const Mat3& dI) {
  const ImplicitSystem system(I, w, h);
  const Vec3 dIw = dI * w, dIy = dI * system.y, dg = cross(w, dIw);
  const Vec3 dAy = dIy + (cross(w, dIy) - cross(dIw, system.y)) * h;
  return dIy + I * (system.inverse * (dg - dAy)) - dg;
}

Mat3 gyroscopic_inertia_gradient(const Mat3& I, Vec3 w, double h, Vec3 lambda) {
  const ImplicitSystem system(I, w, h);
  const Vec3 y = system.y, mu = transpose_times(system.inverse, I * lambda), mu_w = cross(mu, w);
  return outer(lambda - mu - mu_w * h, y) + outer(mu_w - cross(lambda, w) + cross(y, mu) * h, w);
}

// d(I y)/dh = -I A^-1 J y
Vec3 gyroscopic_step_change(const Mat3& I, Vec3 w, double h) {
  const ImplicitSystem system(I, w, h);
  const Vec3 Jy = cross(w, I * system.y) - cross(I * w, system.y);
  return -(I * (system.inverse * Jy));
}

// I_com = I - m (c^2 1 - c c^T),  m c = h
Mat3 inertia_about_com(const Inertia& link) {
  if (link.mass <= 0.0) return link.rotational;
  const Vec3 c = link.moment * (1.0 / link.mass);
  return link.rotational - Mat3::diagonal(dot(c, link.moment)) + outer(c, link.moment);
}

// d(h^2/m) = 2 c . dh - c^2 dm,   d(h h^T/m) = dh c^T + c dh^T - c c^T dm
Mat3 inertia_about_com_change(const Inertia& link, const Inertia& d) {
  if (link.mass <= 0.0) return d.rotational;
  const Vec3 c = link.moment * (1.0 / link.mass);
  return d.rotational - Mat3::diagonal(2.0 * dot(c, d.moment) - squared_norm(c) * d.mass) +
         outer(d.moment - c * d.mass, c) + outer(c, d.moment);
}

Inertia inertia_about_com_gradient(const Inertia& link, const Mat3& G) {
  if (link.mass <= 0.0) return {G, Vec3(), 0.0};
  const Vec3 c = link.moment * (1.0 / link.mass), Gc = G * c;
  return {G, Gc + transpose_times(G, c) - c * (2.0 * trace(G)), trace(G) * squared_norm(c) - dot(c, Gc)};
}

bool turns_freely(const Structure& s, const LinkIndex& link) {
  if (link.joint_end == link.joint_begin) return false;
  const JointType last = s.joints[link.joint_end - 1].type;
  return last == JointType::ball || last == JointType::free;
}

}  // namespace articula
