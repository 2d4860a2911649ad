#pragma once
// A body's inertial force is linear in its ten inertial numbers (m, h, I about its origin):
//   force  = A m + alpha x h + w x (w x h),      moment = h x A + I alpha + w x (I w)
// with w, alpha its angular velocity and acceleration and A the acceleration (minus gravity) of its
// origin, all in its own axes.

#include "articula/dynamics/rnea.hpp"

namespace articula {

struct BodyMotion {
  Mat3 R;  // body's axes in the world
  Vec3 r;  // its origin, from the reference point
  Vec3 w, alpha, A;
};

BodyMotion body_motion(const Model& model, const Data& data, int body);

// The wrench (world axes, about the reference point) of ten inertial numbers moving like that.
Force inertial_wrench(const BodyMotion& motion, const double* pi);

// pi_bar (10) += gradient of Y . wrench(pi) with respect to pi.
void add_inertial_covector(const BodyMotion& motion, const Motion& Y, double* pi_bar);

// The change of a body's inertia about the reference point when its ten numbers change by dpi, and
// when it is displaced by a twist.
Inertia inertia_change(const BodyMotion& motion, const double* dpi);
Inertia inertia_change(const Inertia& inertia, const Motion& displacement);

// Gradients of  sum (rotational : I) + moment . h + mass m  with respect to the same.
void add_inertia_covector(const BodyMotion& motion, const Inertia& gradient, double* pi_bar);
Force inertia_covector(const Inertia& inertia, const Inertia& gradient);

}  // namespace articula
