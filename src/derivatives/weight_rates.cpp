// How the weights R = tr(G_bb) / dim of soft rows change. With u = Mhat^-1 J^T e_i for each row of a block,
//   d g_ii = 2 u . dJ^T e_i - u . dMhat u,      Mhat = M + h diag(slope).
// By the state this takes two sweeps of O(N): contact forces of a unit impulse that move with their bodies,
// against u; and the kinetic energy of a robot that moves with u (dynamics/energy_derivatives.cpp),
//   u . dM/dq_j u = 2 psi'_j . P,      psi'_j = V_j x S_j,   P the momentum of what is behind j.
// By parameters it is the difference of the step's derivatives beside it.

#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

// q_bar += (d(J^T lam)/dq)^T y, at other impulses than those of the step.
void ImpulseDerivatives::Work::impulses_against(const double* lam, const double* y, double* q_bar) {
  rates.carry(lam);
  if (rates.on_bodies()) {
    sweep_after();
    sum_paths(*model, *data, movers, y);
    for (int b : rates.bodies()) {
      Y[b] = movers.path[b];
      body_bars[b] = {};
    }
  }
  rates.against(Y.data(), still.data(), y, body_bars.data(), q_bar);
  if (rates.on_bodies()) gather_positions(y, q_bar);
  rates.carry(step->rows.lam.data());
}

// residual(d, e) += S_e . (S_d x* W_d): the wrenches that rates carry, held where they are, on axes that turn
// with the dofs e before d and in its own block.
void ImpulseDerivatives::Work::add_held_columns(double* target, int stride) {
  const Structure& s = model->structure();
  std::fill(link_wrench.begin(), link_wrench.end(), Force{});
  rates.add_wrenches_on_links(link_wrench);
  for (int k = model->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      const Force turned = cross(data->S[d], link_wrench[k]);
      double* row = target + static_cast<std::size_t>(d) * stride;
      for (int e = s.dofs[d].block_end - 1; e >= 0; e = s.dofs[e].parent) row[e] += dot(data->S[e], turned);
    }
    if (!link.root) link_wrench[link.parent] += link_wrench[k];
  }
}

// q_bar += factor d(u^T M u)/dq
void ImpulseDerivatives::Work::inertia_against(const double* u, double factor, double* q_bar) {
  const Structure& s = model->structure();
  const int nlink = model->nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    Motion v = link.root ? Motion{} : virtual_v[link.parent];
    for (int begin = link.dof_begin; begin < link.dof_end;) {
      const int end = s.dofs[begin].block_end;
      Motion joint{};
      for (int d = begin; d < end; ++d) {
        virtual_rate[d] = cross(v, data->S[d]);
        joint += data->S[d] * u[d];
      }
      v += joint;
      begin = end;
    }
    virtual_v[k] = v;
    link_force[k] = data->link_inertia[k] * v;
  }
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d)
      q_bar[d] += 2.0 * factor * dot(virtual_rate[d], link_force[k]);
    if (!link.root) link_force[link.parent] += link_force[k];
  }
}

// by_z += factor dR/dz
bool ImpulseDerivatives::Work::add_weight_rate(const Item& item, bool with_parameters, double factor,
                                               VectorX& by_z) {
  if (with_parameters && !add_weight_rate_beside(item, factor, by_z)) return false;
  const ContactRows& rows = step->rows;
  const int n = rows.row_of(item);
  // Rows of single dofs stay what they are.
  const bool moves =
      item.kind == RowKind::contact || item.kind == RowKind::equality ||
      (item.kind == RowKind::joint_limit && model->structure().joints[item.index].type == JointType::ball);
  const double share = factor / item.rows;
  double* q_bar = by_z.data() + residual.inputs().q;
  std::vector<double> lam(rows.size(), 0.0);
  VectorX u(nv), squares = VectorX::Zero(nv);
  for (int i = n; i < n + item.rows; ++i) {
    lam[i] = 1.0;
    u.setZero();
    rows.add_impulses(lam.data(), u);
    solve_mass_matrix(*model, *data, u);
    lam[i] = 2.0 * share;
    if (moves) impulses_against(lam.data(), u.data(), q_bar);
    inertia_against(u.data(), -share, q_bar);
    squares += u.cwiseAbs2();
    lam[i] = 0.0;
  }
  squares *= -share * settings.dt;
  residual.slopes_against(squares, by_z);
  return true;
}

// By parameters: minus the derivative of u . r1 that a shift of w by (u, 2 e_i) brings; r1 is linear in w, so
// that one side is enough.
bool ImpulseDerivatives::Work::add_weight_rate_beside(const Item& item, double factor, VectorX& by_z) {
  const ContactRows& rows = step->rows;
  std::vector<double> lam(rows.size(), 0.0);
  VectorX u = VectorX::Zero(nv), eta = VectorX::Zero(nv + rows.size()), z(by_z.size());
  const int n = rows.row_of(item);
  if (!shift_step(u, lam, still, 0.0, 1)) return false;
  for (int i = n; i < n + item.rows; ++i) {
    lam[i] = 1.0;
    u.setZero();
    rows.add_impulses(lam.data(), u);
    solve_mass_matrix(*model, *data, u);
    eta.head(nv) = u;
    lam[i] = 2.0;
    const double size = u.cwiseAbs().maxCoeff(), by = size > 0.0 ? 1.0 / size : 1.0;
    if (!shift_step(u, lam, still, by, 0)) return false;
    for (int side = 0; side < 2; ++side) {
      ImpulseDerivatives& there = shifted[side]->derivatives;
      there.want_parameters(true);
      z.setZero();
      there.residual_against(eta, z);
      const Eigen::Index many = z.size() - residual.inputs().theta;
      by_z.tail(many) += (side == 0 ? 1.0 : -1.0) * factor / (by * item.rows) * z.tail(many);
    }
    lam[i] = 0.0;
  }
  return true;
}

}  // namespace articula
