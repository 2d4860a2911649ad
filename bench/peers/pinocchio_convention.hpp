// Between our convention for ball and free joints and Pinocchio's.
//
// Quaternions: ours (w x y z), Pinocchio's (x y z w). Free joint: our linear velocity v is in the world
// frame, Pinocchio's is the body's, so with R the rotation of the free body, T = R^T on the linear part of
// each free joint, 1 elsewhere:
//
//   v_p   = T v                        dq_p = T dq          (tangent of q, to first order)
//   a_p   = T a + c,   c = -w x (R^T v) on each free joint's linear part, 0 elsewhere
//   tau   = T^T tau_p                  (T is orthogonal: tau_p = T tau)
//
// Derivatives need T's own derivative. A rotation R exp([dtheta]) of a free body changes
//   R^T x  by  [R^T x]x dtheta         and         R y  by  -R [y]x dtheta.
#pragma once

#include <Eigen/Core>

#include <vector>

namespace articula::peers {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Convention {
  int nq = 0;
  int nv = 0;
  std::vector<int> quaternions;  // where in q a quaternion starts
  struct Free {
    int q = 0;  // where the joint starts in q
    int v = 0;  // and in v
  };
  std::vector<Free> free_joints;
};

// One state in Pinocchio's convention, with what the way back needs.
struct ConvertedState {
  VectorXd q, v, tau, a;  // Pinocchio's
  VectorXd c;             // a_p = T a + c
  MatrixXd T;
  VectorXd v_ours, tau_ours, a_ours;
};

// Null v, tau or a stand for zeros.
ConvertedState convert_state(const Convention& convention, const double* q, const double* v,
                             const double* tau, const double* a);

// Derivatives of inverse dynamics, from Pinocchio's at (q, v, a): its torque, mass matrix, d tau / dq and d
// tau / dv.
MatrixXd inverse_dynamics_dq(const Convention& convention, const ConvertedState& state, const VectorXd& tau,
                             const MatrixXd& M, const MatrixXd& dtau_dq, const MatrixXd& dtau_dv);
MatrixXd inverse_dynamics_dv(const Convention& convention, const ConvertedState& state, const MatrixXd& M,
                             const MatrixXd& dtau_dv);

// Derivatives of forward dynamics, from Pinocchio's at (q, v, tau): its acceleration and its three
// derivatives.
MatrixXd forward_dynamics_dq(const Convention& convention, const ConvertedState& state, const VectorXd& a,
                             const MatrixXd& da_dq, const MatrixXd& da_dv, const MatrixXd& da_dtau);
MatrixXd forward_dynamics_dv(const Convention& convention, const ConvertedState& state,
                             const MatrixXd& da_dv);

}  // namespace articula::peers
