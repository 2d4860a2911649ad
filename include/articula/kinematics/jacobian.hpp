#pragma once
// Jacobians of frames and points, and their rates. Rows: linear velocity (3), angular velocity (3),
// in world axes; columns: nv. A wrench (force, torque) at the frame maps to joint forces by J^T.

#include "articula/kinematics/link_point.hpp"

namespace articula {

// Of any place (link_point.hpp); J is 6 x nv, or 3 x nv for the linear rows only.
void jacobian_at(const Model& model, const Data& data, const LinkPoint& at, MatrixRef J);

// Of the body's or frame's origin; after forward_kinematics. J is 6 x nv.
void body_jacobian(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> J);
void frame_jacobian(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> J);

// Of the point of a body that is at `world_point` now; linear rows only. J is 3 x nv.
void point_jacobian(const Model& model, const Data& data, int body, const Vector3& world_point,
                    Eigen::Ref<Matrix3X> J);

// dJ/dt; after motion_rates.
void jacobian_rate_at(const Model& model, const Data& data, const LinkPoint& at, MatrixRef Jdot);
void body_jacobian_rate(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> Jdot);
void frame_jacobian_rate(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> Jdot);
void point_jacobian_rate(const Model& model, const Data& data, int body, const Vector3& world_point,
                         Eigen::Ref<Matrix3X> Jdot);

}  // namespace articula
