#pragma once

#include "articula/model/model.hpp"

namespace articula {

// Of a body with that inertia about its origin. The principal axes are those nearest to `described`,
// which also decide where moments are equal.
InertiaBox inertia_box(const Inertia& body, const std::optional<Quaternion>& described);

// How moments of inertia (principal) and mass change the edge lengths, and the gradient of size_bar . size.
Vec3 box_size_change(const InertiaBox& box, double mass, Vec3 dmoments, double dmass);
struct BoxGradient {
  Vec3 moments;
  double mass = 0.0;
};
BoxGradient box_size_gradient(const InertiaBox& box, double mass, Vec3 size_bar);

// A change dI of the inertia about the centre of mass (body's axes) turns the principal axes by a rotation
// vector (in principal axes). Where moments are equal, their axes stay as they are.
Vec3 principal_turn(const InertiaBox& box, const Mat3& in_principal_axes);
// The gradient of turn_bar . turn with respect to dI in principal axes; only the upper triangle counts.
Mat3 principal_turn_gradient(const InertiaBox& box, Vec3 turn_bar);

}  // namespace articula
