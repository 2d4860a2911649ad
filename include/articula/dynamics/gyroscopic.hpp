#pragma once
// The gyroscopic torque of a freely turning body, taken implicitly.
//
// Explicit Euler on  I dw/dt = -w x I w  gains energy every step. One Newton step of the implicit
// equation  I (w+ - w) + h w+ x I w+ = 0  from w+ = w gives
//     (I + h J) (w+ - w) = -h w x I w,       J = [w]x I - [I w]x,
// that is, the torque  w x I w  is replaced by  I (I + h J)^-1 (w x I w).  It differs by O(h).
// Bodies on a ball or free joint take it, with their own inertia about their centre of mass.

#include "articula/model/data.hpp"

namespace articula {

struct GyroscopicTerm {
  Vec3 torque;      // I (I + h J)^-1 (w x I w) - w x I w: what to add, in the link's axes
  Mat3 derivative;  // of torque with respect to w
};

// w: angular velocity in the link's axes; about_com: inertia in the link's axes.
GyroscopicTerm implicit_gyroscopic(const Mat3& about_com, Vec3 w, double h);

// How the torque changes with the inertia: along dI, and as a gradient G with  lambda . change = G : dI.
Vec3 gyroscopic_inertia_change(const Mat3& about_com, Vec3 w, double h, const Mat3& dI);
Mat3 gyroscopic_inertia_gradient(const Mat3& about_com, Vec3 w, double h, Vec3 lambda);

// How it changes with the step h.
Vec3 gyroscopic_step_change(const Mat3& about_com, Vec3 w, double h);

// Inertia of the link about its centre of mass, in its axes.
Mat3 inertia_about_com(const Inertia& link);
Mat3 inertia_about_com_change(const Inertia& link, const Inertia& change);
// The gradient with respect to (I, h, m) of  G : I_com.
Inertia inertia_about_com_gradient(const Inertia& link, const Mat3& G);

// Whether the link takes the implicit term: its last joint is a ball or free.
bool turns_freely(const Structure& structure, const LinkIndex& link);

}  // namespace articula
