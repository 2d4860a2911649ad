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

// Inertia of the link about its centre of mass, in its axes.
Mat3 inertia_about_com(const Inertia& link);

// Whether the link takes the implicit term: its last joint is a ball or free.
bool turns_freely(const Structure& structure, const LinkIndex& link);

}  // namespace articula
