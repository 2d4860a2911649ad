// Products of the Jacobians of inverse dynamics with vectors, O(N): sums over paths and subtrees take
// the place of the double loop.

#include "articula/dynamics/rnea_derivatives.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

// With per-link sums over the path to the root,
//   A = sum (psi_ddot dq + (psi_dot + S_dot) dv + S da),   w = sum (psi_dot dq + S dv),   z = sum S dq,
// the force of link k changes by  I A + 2 B w + (external) z  plus what turns with the body; then
//   dtau_i = S_i . [ sum over the subtree of that  +  sum over dofs j behind i of dq_j S_j x* f_j ]
void rnea_directional(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                      const ConstVectorRef& dq, const ConstVectorRef& dv, const ConstVectorRef& da,
                      VectorRef dtau) {
  const Structure& s = model.structure();
  require_size("dq", dq.size(), s.nv);
  require_size("dv", dv.size(), s.nv);
  require_size("da", da.size(), s.nv);
  require_size("dtau", dtau.size(), s.nv);
  std::vector<Motion>& A = work.path_motion;
  std::vector<Motion>& w = work.path_turn;  // angular: w, linear: z (angular part of sum S dq)
  std::vector<Force>& force = work.subtree_force;
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    A[k] = link.root ? Motion{} : A[link.parent];
    w[k] = link.root ? Motion{} : w[link.parent];
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      A[k] += work.psi_ddot[d] * dq[d] + (data.psi_dot[d] + data.S_dot[d]) * dv[d] + data.S[d] * da[d];
      w[k].angular += data.psi_dot[d].angular * dq[d] + data.S[d].angular * dv[d];
      w[k].linear += data.S[d].angular * dq[d];
    }
    force[k] = data.link_inertia[k] * A[k] + work.own_coupling[k] * w[k].angular;
    if (has_external) force[k] += work.own_external[k] * w[k].linear;
  }
  // Inwards, dof by dof: a dof sees the turning forces of those behind its own block.
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int end = link.dof_end; end > link.dof_begin;) {
      const int begin = s.dofs[end - 1].block_begin;
      Force turned{};
      for (int d = begin; d < end; ++d) {
        dtau[d] = dot(data.S[d], force[k]) + model.constants().armature[d] * da[d];
        turned += cross(data.S[d], data.link_force[k]) * dq[d];
      }
      force[k] += turned;
      end = begin;
    }
    if (!link.root) force[link.parent] += force[k];
  }
}

namespace {

// With Y = sum S y over the path to the root, and over subtrees
//   G = sum I Y,   H = sum (2 B)^T Y,   X = sum (external)^T Y:
//   (dtau/dq^T y)_j = psi_ddot_j . G + psi_dot_j . H + S_j . X + Y_before . (S_j x* f)
//   (dtau/dv^T y)_j = (psi_dot + S_dot)_j . G + S_j . H
template <bool has_external>
void adjoint(const Model& model, const Data& data, RneaDerivativeWork& work, const double* y, double* q_bar,
             double* v_bar) {
  const Structure& s = model.structure();
  std::vector<Motion>& Y = work.path_motion;
  std::vector<Force>& G = work.subtree_force;
  std::vector<Motion>& HX = work.path_turn;  // angular: H, linear: X
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    Y[k] = link.root ? Motion{} : Y[link.parent];
    for (int d = link.dof_begin; d < link.dof_end;) {
      const Motion before = Y[k];
      for (const int end = s.dofs[d].block_end; d < end; ++d) {
        q_bar[d] = dot(before, cross(data.S[d], data.link_force[k]));
        Y[k] += data.S[d] * y[d];
      }
    }
    G[k] = data.link_inertia[k] * Y[k];
    HX[k].angular = transposed_rigid_coupling(data.link_inertia[k], data.link_v[k], Y[k]);
    if constexpr (has_external) HX[k].linear = transpose_times(work.own_external[k], Y[k]);
  }
  for (size_t i = 0; i < work.turning.size(); ++i) {
    const int k = work.turning[i];
    HX[k].angular += transpose_times(work.gyroscopic[i], Y[k].angular);
  }
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      const Motion &S = data.S[d], &psi_dot = data.psi_dot[d], &psi_ddot = work.psi_ddot[d];
      const Motion rate = psi_dot + data.S_dot[d];
      Vec3 by_q = elementwise(psi_ddot.angular, G[k].moment) + elementwise(psi_ddot.linear, G[k].linear) +
                  elementwise(psi_dot.angular, HX[k].angular);
      if constexpr (has_external) by_q += elementwise(S.angular, HX[k].linear);
      q_bar[d] += sum(by_q);
      v_bar[d] = sum(elementwise(rate.angular, G[k].moment) + elementwise(rate.linear, G[k].linear) +
                     elementwise(S.angular, HX[k].angular));
    }
    if (link.root) continue;
    G[link.parent] += G[k];
    HX[link.parent].angular += HX[k].angular;
    if constexpr (has_external) HX[link.parent].linear += HX[k].linear;
  }
}

}  // namespace

void rnea_adjoint(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                  const ConstVectorRef& y, VectorRef q_bar, VectorRef v_bar) {
  require_size("y", y.size(), model.nv());
  require_size("q_bar", q_bar.size(), model.nv());
  require_size("v_bar", v_bar.size(), model.nv());
  (has_external ? adjoint<true> : adjoint<false>)(model, data, work, y.data(), q_bar.data(), v_bar.data());
}

}  // namespace articula
