#pragma once
// Drag on the box b that has a body's inertia, along its edges (MuJoCo's inertia-box model):
//   moment_i = -(pi d^3 mu + rho b_i (b_j^4 + b_k^4) / 64 |w_i|) w_i,      d = (b_x + b_y + b_z) / 3
//   force_i  = -(3 pi d mu + rho b_j b_k / 2 |u_i|) u_i
// with w and u the angular velocity and the velocity of the centre of mass through the medium.

#include "articula/kinematics/motion.hpp"

namespace articula {

struct DragCoefficients {
  double viscous_turn = 0.0, viscous_shift = 0.0;
  Vec3 turn, shift;  // of the squared velocities
};
DragCoefficients drag_coefficients(Vec3 size, double density, double viscosity);

// -(viscous + quadratic_i |velocity_i|) velocity_i
Vec3 drag_law(double viscous, Vec3 quadratic, Vec3 velocity);

struct BodyDrag {
  Mat3 R;              // the box's axes in the world
  Vec3 r;              // its centre, from the reference point
  Vec3 w, u;           // velocities in the box's axes
  Vec3 moment, force;  // in the world, about the centre
  DragCoefficients coefficients;
};
BodyDrag body_drag(const Model& model, const Data& data, int body);
bool has_drag(const Model& model, int body);

}  // namespace articula
