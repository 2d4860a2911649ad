#pragma once
// How everything moves: velocities and accelerations of links.

#include "articula/kinematics/forward.hpp"

namespace articula {

// Fills link_v and link_a for velocities v and accelerations a (nv each; a may be null: zero), after
// forward_kinematics. Accelerations include minus gravity, as if the world accelerated upwards.
void propagate_motion(const Model& model, Data& data, const double* v, const double* a);

// Fills dof_v, dof_a, psi_dot and S_dot, after propagate_motion with the same v and a.
void motion_rates(const Model& model, Data& data, const double* v, const double* a);

// Velocity and acceleration (minus gravity) of the parent of a tree's root link, about the root's
// reference point: those of the world or of a kinematic body.
Motion parent_velocity(const Data& data, const LinkIndex& root, int link);
Motion parent_acceleration(const Model& model, const Data& data, const LinkIndex& root);

// The point at `offset` in a body's frame: place, velocity and true acceleration, in the world.
struct PointMotion {
  Vec3 position, velocity, acceleration;
};
PointMotion point_motion(const Model& model, const Data& data, int body, Vec3 offset);

}  // namespace articula
