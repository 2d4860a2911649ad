#pragma once
// Derivatives of inverse dynamics: Jacobians in O(N depth), products with a vector in O(N).
//
// The derivation is in docs/derivatives.md. Tangent space throughout: the column of a ball's dof is
// the derivative along q (+) e_d. External wrenches are constant in world axes; the points they act
// at (centres of mass) move with the bodies.

#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/rnea.hpp"

namespace articula {

// d(force)/d(angular velocity-like quantity w') of a rigid body, and of a subtree, by addition:
//   2 B w' = ( N w',  -2 P x w' ),    N = 2 (tr E 1 - E),   E = sum m u r^T,   P = sum m u
struct VelocityCoupling {
  Mat3 N;
  Vec3 two_P;

  VelocityCoupling& operator+=(const VelocityCoupling& b) {
    N += b.N;
    two_P += b.two_P;
    return *this;
  }
};

inline Force operator*(const VelocityCoupling& B, Vec3 w) { return {B.N * w, -cross(B.two_P, w)}; }
// Power of the coupling along S, as a covector on w':  S . (2 B w') = w' . result
inline Vec3 transpose_times(const VelocityCoupling& B, const Motion& S) {
  return transpose_times(B.N, S.angular) + cross(B.two_P, S.linear);
}

// Of a rigid body that moves with v; and one product with its transpose, without the matrix:
//   N^T y + 2 P x y_linear = 2 (v x (y x h) + (tr I / 2 - I) (w x y) + P x y_linear),   v = (w, v)
VelocityCoupling rigid_coupling(const Inertia& inertia, const Motion& v);
inline Vec3 transposed_rigid_coupling(const Inertia& inertia, const Motion& v, const Motion& y) {
  const Vec3 turned = cross(v.angular, y.angular);
  const Vec3 P = v.linear * inertia.mass + cross(v.angular, inertia.moment);
  const Vec3 sum = cross(v.linear, cross(y.angular, inertia.moment)) - inertia.rotational * turned +
                   turned * (0.5 * trace(inertia.rotational)) + cross(P, y.linear);
  return sum + sum;
}
// Of a wrench (force F and torque n in world axes) on a body at r: constant, it does not turn with the
// body, and differs from one that does, for a turn w', by
//   ( r x (w' x F) - n x w',  -F x w' )  =  ( ((r . F) 1 - F r^T - [n]x) w',  -F x w' )
VelocityCoupling wrench_coupling(Vec3 F, Vec3 n, Vec3 r);

// Wrenches on links, about their trees' reference points, that stay in place while the robot moves but for
// what displacements of the link itself change, dF = rate Z (contacts). What only some links have.
struct PosedWrenches {
  // d(moment, force) per unit of the angular and the linear part of Z.
  struct Rate {
    Mat3 moment_by_turn, moment_by_shift, force_by_turn, force_by_shift;
  };
  explicit PosedWrenches(const Model& model);
  void clear();
  void add(int link, const Force& wrench);
  void add(int link, const Rate& more);

  std::vector<Force> wrench;  // nlink
  std::vector<Rate> rate;     // nlink
  std::vector<char> any;      // nlink: whether there is one, or a rate
  bool turns = false;         // some force changes, not moments alone
};

// Workspace of the derivatives, sized once from the model.
struct RneaDerivativeWork {
  explicit RneaDerivativeWork(const Model& model);

  std::vector<Inertia> composite;                        // nlink: of the subtree
  std::vector<VelocityCoupling> own_coupling, coupling;  // nlink: of the link, of its subtree
  std::vector<VelocityCoupling> own_external, external;  // likewise: how external wrenches turn
  std::vector<Motion> psi_ddot;                          // nv: dof_a x S + dof_v x psi_dot
  // Of links that turn freely: how the implicit gyroscopic torque changes with their turning.
  std::vector<int> turning;
  std::vector<Mat3> gyroscopic;  // one for each of them
  // One row of nv numbers (padded) per component, so that loops over a subtree use whole registers.
  int stride = 0;
  AlignedVector columns;  // rows: see rnea_derivatives.cpp
  int turn_rows = 0;      // how many rows tell what wrenches from outside add
  // Sums along paths and over subtrees (nlink), of one product with a vector (rnea_products.cpp).
  std::vector<Motion> path_motion, path_turn;
  std::vector<Force> subtree_force;
};

// dtau/dq and dtau/dv (nv x nv, dense, zeros where no path joins). dtau/da is the mass matrix, left
// in data.mass. Everything `rnea` fills is filled too.
void rnea_derivatives(const Model& model, Data& data, RneaDerivativeWork& work, const ConstVectorRef& q,
                      const ConstVectorRef& v, const ConstVectorRef& a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                      const DynamicsOptions& options = {});

// All that the O(N) products below need, after rnea (or its stages) for the same arguments.
void prepare_rnea_products(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                           const double* a, const DynamicsOptions& options);

// The stages of rnea_derivatives. Needs rnea (or its stages) and composite_mass_matrix for the same
// arguments. Fills `work` ...
void prepare_rnea_derivatives(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                              const double* a, const DynamicsOptions& options);
// The part of it that follows prepare_rnea_products. Posed wrenches become those of subtrees, and then
// dtau/dq has their part, too, as if they were not among the forces of `rnea`:  dtau = - d(sum of J^T F).
void prepare_rnea_columns(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                          PosedWrenches* posed = nullptr);
// ... and writes sign * dtau/dq, sign * dtau/dv into matrices whose entry (i, j) is at
// i row_stride + j column_stride, one of which is 1. Other entries are left alone.
struct StridedMatrices {
  double* dq;
  double* dv;
  int row_stride, column_stride;
};
void assemble_rnea_derivatives(const Model& model, const Data& data, const RneaDerivativeWork& work,
                               double sign, StridedMatrices out);

// Along a direction, O(N): dtau = dtau/dq dq + dtau/dv dv + M da. Needs prepare_rnea_products.
void rnea_directional(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                      const ConstVectorRef& dq, const ConstVectorRef& dv, const ConstVectorRef& da,
                      VectorRef dtau);

// Against a covector, O(N): (dtau/dq)^T y and (dtau/dv)^T y. Needs prepare_rnea_products.
void rnea_adjoint(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                  const ConstVectorRef& y, VectorRef q_bar, VectorRef v_bar);

}  // namespace articula
