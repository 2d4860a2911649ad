#pragma once
// Bodies, frames and geometries alike: where they are and how they move.

#include "articula/kinematics/link_point.hpp"
#include "articula/math/lie.hpp"

namespace articula {

struct Place {
  LinkPoint at;    // its origin
  Mat3 R;          // its axes in the world
  Vec3 reference;  // the point that `at` counts from, in the world
  Vec3 position() const { return reference + at.r; }
};

// After forward_kinematics.
Place find_place(const Model& model, const Data& data, ObjectType type, int index);

// The body that carries it.
int body_of_place(const Model& model, ObjectType type, int index);

// Its rotation as the product of the quaternions on the way from the world, which, unlike one made from a
// matrix, does not jump between the two quaternions of a rotation while the robot moves.
Quat place_quaternion(const Model& model, const Data& data, const double* q, ObjectType type, int index);

// Acceleration minus gravity of a link, also where no joint moves it, about its reference point.
Motion felt_acceleration(const Model& model, const Data& data, int link);

// Of the place's origin, in world axes: what an accelerometer would feel.
Vec3 felt_acceleration_at(const Model& model, const Data& data, const LinkPoint& at);

// A body's own inertia in world axes about the reference point of its link.
Inertia body_inertia(const Model& model, const Data& data, int body);

// Bodies of the subtree: [body, subtree_end).
int body_subtree_end(const Structure& s, int body);

}  // namespace articula
