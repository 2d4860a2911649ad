#pragma once
// Rotations: quaternions (w x y z) in memory, matrices in the recursions, rotation vectors in the
// tangent space (right-trivialised: R exp([d]x)).

#include "articula/math/vec3.hpp"

namespace articula {

struct Quat {
  double w = 1.0;
  Vec3 v;
};

// Normalised; a zero quaternion, which is no rotation, is read as the identity.
Quat load_quaternion(const double* wxyz);
void store_quaternion(double* wxyz, const Quat& q);
Quat operator*(const Quat& a, const Quat& b);
inline Quat conjugate(const Quat& q) { return {q.w, -q.v}; }

Mat3 rotation_matrix(const Quat& q);
Quat rotation_quaternion(const Mat3& R);  // one of the two

// exp: rotation vector -> quaternion; log: the shortest rotation vector, |log| <= pi.
Quat exp_rotation(Vec3 rotation);
Vec3 log_rotation(const Quat& q);

// exp(d + e) = exp(d) exp(Jr(d) e) to first order.
Mat3 right_jacobian(Vec3 rotation);
Mat3 inverse_right_jacobian(Vec3 rotation);

// The turn (in the turned axes) that a change d of a quaternion in memory makes, 2 vec(conj(q) d) / |q|,
// whatever its norm; and d_bar += the gradient of  turn_bar . turn  with respect to d.
Vec3 quaternion_turn(const double* wxyz, const double* d);
void add_quaternion_covector(const double* wxyz, Vec3 turn_bar, double* d_bar);

// Rot(axis, angle) for a unit axis.
Mat3 rotation_about(Vec3 axis, double sine, double cosine);

}  // namespace articula
