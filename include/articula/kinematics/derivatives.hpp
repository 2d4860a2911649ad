#pragma once
// Derivatives of position, velocity and acceleration of a place on a robot (link_point.hpp) with
// respect to q, v and a.
//
// Rows as in jacobian.hpp: linear (3), angular (3), in world axes; a matrix of three rows takes the
// linear part only. Columns: nv, in the tangent space. The angular row of a position is the rotation
// vector, in world axes, by which the place turns. Poses and twists of kinematic bodies are held.
// The derivation is above the code, and in docs/derivatives.md.
//
//                    by q                     by v            by a
//   position         J (jacobian_at)
//   velocity         velocity_derivatives     J
//   acceleration     acceleration_derivatives                 J
//
// Needs forward_kinematics; for velocities and accelerations also propagate_motion and motion_rates.
// The place must have been made for the same configuration.

#include "articula/kinematics/jacobian.hpp"

namespace articula {

void velocity_derivatives(const Model& model, const Data& data, const LinkPoint& at, MatrixRef by_q,
                          MatrixRef by_v);
void acceleration_derivatives(const Model& model, const Data& data, const LinkPoint& at, MatrixRef by_q,
                              MatrixRef by_v, MatrixRef by_a);

// Along a direction, O(depth).
Vector6 position_directional(const Model& model, const Data& data, const LinkPoint& at,
                             const ConstVectorRef& dq);
Vector6 velocity_directional(const Model& model, const Data& data, const LinkPoint& at,
                             const ConstVectorRef& dq, const ConstVectorRef& dv);
Vector6 acceleration_directional(const Model& model, const Data& data, const LinkPoint& at,
                                 const ConstVectorRef& dq, const ConstVectorRef& dv,
                                 const ConstVectorRef& da);

// Against a covector y (linear, angular), O(depth): adds the transposed Jacobians times y.
void add_position_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                          VectorRef q_bar);
void add_velocity_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                          VectorRef q_bar, VectorRef v_bar);
void add_acceleration_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                              VectorRef q_bar, VectorRef v_bar, VectorRef a_bar);

}  // namespace articula
