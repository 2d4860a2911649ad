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

// I_com = I - m (c^2 1 - c c^T),  m c = h
Mat3 inertia_about_com(const Inertia& link) {
  if (link.mass <= 0.0) return link.rotational;
  const Vec3 c = link.moment * (1.0 / link.mass);
  return link.rotational - Mat3::diagonal(dot(c, link.moment)) + outer(c, link.moment);
}

bool turns_freely(const Structure& s, const LinkIndex& link) {
  if (link.joint_end == link.joint_begin) return false;
  const JointType last = s.joints[link.joint_end - 1].type;
  return last == JointType::ball || last == JointType::free;
}

}  // namespace articula
