#pragma once
// When a bounce happens within a step (Nimble, VI, with equations that hold for any masses).
//
// The discrete step ends at q + h v+ wherever in the step the bodies meet. In continuous time the velocity
// jumps by dv_i = Mhat^-1 J_i^T lam_i at t_i = -phi_i / (J_N v)_i, so that q+ = q + h v + sum_i (h - t_i)
// dv_i, and
//   dq+/dq = 1 + sum_i dv_i (J_N)_i / (J_N v)_i
// where of lam_i only the share counts that turns the velocity back (the rest carries gravity and other
// forces). For one contact without friction this is 1 - (1 + e) M^-1 J^T G^-1 J; a ball on a floor gives -e.
// By velocities the discrete step's derivative h dv+/dv has that form already.

#include "articula/steppers/impulse.hpp"

namespace articula {

struct BounceTiming {
  MatrixX jump;  // nv x bounces: dv_i, in the tangent space of q+
  MatrixX rate;  // bounces x nv: (J_N)_i / (J_N v)_i, times that share
};

// Of the last step taken with these.
BounceTiming bounce_timing(const Model& model, const Data& data, const ImpulseWork& step, double dt);

}  // namespace articula
