#pragma once
// Places that move with a link: a body's or frame's origin, or any point of a body. What holds at one
// such place (Jacobian, velocity, acceleration and their derivatives) is computed alike for all.

#include "articula/kinematics/motion.hpp"

namespace articula {

struct LinkPoint {
  int link = 0;
  Vec3 r;  // from the tree's reference point, in world axes
};

// After forward_kinematics. `offset` is in the body's frame; `world_point` is the point of the body
// that is there now.
LinkPoint body_point(const Model& model, const Data& data, int body, Vec3 offset = Vec3());
LinkPoint frame_point(const Model& model, const Data& data, int frame);
LinkPoint point_on_body(const Model& model, const Data& data, int body, const Vector3& world_point);

// Linear (3) and angular (3) velocity and true acceleration, in world axes; after propagate_motion.
Vector6 velocity_at(const Data& data, const LinkPoint& at);
Vector6 acceleration_at(const Model& model, const Data& data, const LinkPoint& at);

// The last dof that moves the link, or -1; DofIndex::parent leads on towards the root.
int last_dof(const Structure& structure, int link);

}  // namespace articula
