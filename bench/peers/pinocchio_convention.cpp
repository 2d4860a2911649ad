#include "bench/peers/pinocchio_convention.hpp"

#include <Eigen/Geometry>

namespace articula::peers {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d cross(const Vector3d& x) {
  Matrix3d result;
  result << 0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0;
  return result;
}

VectorXd vector_or_zero(const double* values, int size) {
  return values == nullptr ? VectorXd(VectorXd::Zero(size))
                           : VectorXd(Eigen::Map<const VectorXd>(values, size));
}

// d (T x) / dq for a fixed x in our coordinates: [R^T x]x in each free joint's (linear, angular) block.
MatrixXd derivative_of_T_times(const Convention& convention, const ConvertedState& state, const VectorXd& x) {
  MatrixXd result = MatrixXd::Zero(convention.nv, convention.nv);
  const VectorXd Tx = state.T * x;
  for (const Convention::Free& joint : convention.free_joints) {
    result.block<3, 3>(joint.v, joint.v + 3) = cross(Tx.segment<3>(joint.v));
  }
  return result;
}

// d (T^T y) / dq for a fixed y in Pinocchio's coordinates: -R [y]x.
MatrixXd derivative_of_Tt_times(const Convention& convention, const ConvertedState& state,
                                const VectorXd& y) {
  MatrixXd result = MatrixXd::Zero(convention.nv, convention.nv);
  for (const Convention::Free& joint : convention.free_joints) {
    const Matrix3d R = state.T.block<3, 3>(joint.v, joint.v).transpose();
    result.block<3, 3>(joint.v, joint.v + 3) = -R * cross(y.segment<3>(joint.v));
  }
  return result;
}

// c = -w x (R^T v):  dc/dtheta = -[w]x [R^T v]x.
MatrixXd derivative_of_c_by_q(const Convention& convention, const ConvertedState& state) {
  MatrixXd result = MatrixXd::Zero(convention.nv, convention.nv);
  for (const Convention::Free& joint : convention.free_joints) {
    const Vector3d v_body = state.v.segment<3>(joint.v), w = state.v.segment<3>(joint.v + 3);
    result.block<3, 3>(joint.v, joint.v + 3) = -cross(w) * cross(v_body);
  }
  return result;
}

// dc/dv = -[w]x R^T,  dc/dw = [R^T v]x.
MatrixXd derivative_of_c_by_v(const Convention& convention, const ConvertedState& state) {
  MatrixXd result = MatrixXd::Zero(convention.nv, convention.nv);
  for (const Convention::Free& joint : convention.free_joints) {
    const Vector3d v_body = state.v.segment<3>(joint.v), w = state.v.segment<3>(joint.v + 3);
    result.block<3, 3>(joint.v, joint.v) = -cross(w) * state.T.block<3, 3>(joint.v, joint.v);
    result.block<3, 3>(joint.v, joint.v + 3) = cross(v_body);
  }
  return result;
}

}  // namespace

ConvertedState convert_state(const Convention& convention, const double* q, const double* v,
                             const double* tau, const double* a) {
  ConvertedState state;
  state.q = Eigen::Map<const VectorXd>(q, convention.nq);
  for (const int start : convention.quaternions) {
    const Eigen::Vector4d wxyz = state.q.segment<4>(start).normalized();
    state.q.segment<4>(start) << wxyz[1], wxyz[2], wxyz[3], wxyz[0];
  }
  state.T = MatrixXd::Identity(convention.nv, convention.nv);
  for (const Convention::Free& joint : convention.free_joints) {
    const Eigen::Quaterniond rotation(Eigen::Map<const Eigen::Vector4d>(state.q.data() + joint.q + 3));
    state.T.block<3, 3>(joint.v, joint.v) = rotation.toRotationMatrix().transpose();
  }
  state.v_ours = vector_or_zero(v, convention.nv);
  state.tau_ours = vector_or_zero(tau, convention.nv);
  state.a_ours = vector_or_zero(a, convention.nv);
  state.v = state.T * state.v_ours;
  state.tau = state.T * state.tau_ours;
  state.c = VectorXd::Zero(convention.nv);
  for (const Convention::Free& joint : convention.free_joints) {
    const Vector3d v_body = state.v.segment<3>(joint.v), w = state.v.segment<3>(joint.v + 3);
    state.c.segment<3>(joint.v) = -w.cross(v_body);
  }
  state.a = state.T * state.a_ours + state.c;
  return state;
}

// tau = T^T tau_p(q, T v, T a + c)
MatrixXd inverse_dynamics_dq(const Convention& convention, const ConvertedState& state, const VectorXd& tau,
                             const MatrixXd& M, const MatrixXd& dtau_dq, const MatrixXd& dtau_dv) {
  const MatrixXd dv = derivative_of_T_times(convention, state, state.v_ours);
  const MatrixXd da =
      derivative_of_T_times(convention, state, state.a_ours) + derivative_of_c_by_q(convention, state);
  return derivative_of_Tt_times(convention, state, tau) +
         state.T.transpose() * (dtau_dq * state.T + dtau_dv * dv + M * da);
}

MatrixXd inverse_dynamics_dv(const Convention& convention, const ConvertedState& state, const MatrixXd& M,
                             const MatrixXd& dtau_dv) {
  return state.T.transpose() * (dtau_dv * state.T + M * derivative_of_c_by_v(convention, state));
}

// a = T^T (a_p(q, T v, T tau) - c)
MatrixXd forward_dynamics_dq(const Convention& convention, const ConvertedState& state, const VectorXd& a,
                             const MatrixXd& da_dq, const MatrixXd& da_dv, const MatrixXd& da_dtau) {
  const MatrixXd dv = derivative_of_T_times(convention, state, state.v_ours);
  const MatrixXd dtau = derivative_of_T_times(convention, state, state.tau_ours);
  return derivative_of_Tt_times(convention, state, a - state.c) +
         state.T.transpose() *
             (da_dq * state.T + da_dv * dv + da_dtau * dtau - derivative_of_c_by_q(convention, state));
}

MatrixXd forward_dynamics_dv(const Convention& convention, const ConvertedState& state,
                             const MatrixXd& da_dv) {
  return state.T.transpose() * (da_dv * state.T - derivative_of_c_by_v(convention, state));
}

}  // namespace articula::peers
