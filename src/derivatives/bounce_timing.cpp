#include "articula/derivatives/bounce_timing.hpp"

#include "articula/dynamics/crba.hpp"
#include "articula/kinematics/manifold.hpp"

namespace articula {

BounceTiming bounce_timing(const Model& model, const Data& data, const ImpulseWork& step, double dt) {
  const int nv = model.nv();
  const ContactRows& rows = step.rows;
  std::vector<const Item*> bouncing;
  for (const Item& item : rows.items()) {
    const bool pushed = rows.mode[rows.row_of(item)] != RowMode::free;
    if (item.kind == RowKind::contact && item.bias == BiasMode::bounce && pushed) bouncing.push_back(&item);
  }
  BounceTiming timing;
  timing.jump.resize(nv, static_cast<Eigen::Index>(bouncing.size()));
  timing.rate.resize(static_cast<Eigen::Index>(bouncing.size()), nv);
  if (bouncing.empty()) return timing;
  std::vector<double> lam(rows.size(), 0.0);
  VectorX vector(nv);
  for (size_t i = 0; i < bouncing.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const int at = rows.row_of(*bouncing[i]);
    lam[at] = 1.0;
    vector.setZero();
    rows.add_impulses(lam.data(), vector);  // J_N^T
    const double before = vector.dot(step.free.v), after = vector.dot(step.v_next);
    const double share = (after - before) / (after - vector.dot(step.v_free));
    timing.rate.row(k) = vector.transpose() * (share / before);
    for (int r = at; r < at + bouncing[i]->rows; ++r) lam[r] = rows.lam[r];
    vector.setZero();
    rows.add_impulses(lam.data(), vector);
    solve_mass_matrix(model, data, vector);
    timing.jump.col(k) = vector;
    for (int r = at; r < at + bouncing[i]->rows; ++r) lam[r] = 0.0;
  }
  MatrixX by_q(nv, nv), by_turn(nv, nv);
  integrate_jacobians(model, dt * step.v_next, by_q, by_turn);
  timing.jump = by_turn * timing.jump;
  return timing;
}

}  // namespace articula
