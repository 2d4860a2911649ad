// dv+ = N + P X:  N = -Mhat^-1 dr1,  K X = -A^T (J N + dsigma),  P = Mhat^-1 J^T B, all columns at once.

#include "articula/math/strips.hpp"
#include "articula/model/sizes.hpp"
#include "impulse_work.hpp"

namespace articula {

void ImpulseDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control) {
  Work& w = *work_;
  const int nv = w.nv, na = w.na, nu = w.nu, n = 2 * nv + na, rows = w.step->rows.size();
  require_size("rows of by_state", by_state.rows(), n);
  require_size("columns of by_state", by_state.cols(), n);
  require_size("rows of by_control", by_control.rows(), n);
  require_size("columns of by_control", by_control.cols(), nu);
  const double h = w.settings.dt;
  const int width = (nv + 3) / 4 * 4, total = (2 * width + na + nu + 3) / 4 * 4;
  w.blocks.resize(nv, total);
  w.blocks.setZero();
  // -dr / d(q, v, w, u), per unit of force
  w.residual.jacobians(-1.0, {w.blocks.data(), w.blocks.data() + width, total, 1});
  w.residual.input_jacobians(-1.0, w.blocks.middleCols(2 * width, na),
                             w.blocks.middleCols(2 * width + na, nu));
  if (rows > 0) {
    w.row_columns.resize(rows, total);
    w.row_columns.setZero();
    w.blocks.leftCols(width) *= -h;  // + dr1/dq, to which the columns add
    w.columns.add(*w.model, w.after, *w.step, w.rates, w.row_columns.leftCols(nv), w.blocks.data(), total);
    if (w.bounces)
      w.columns.add_bounces(*w.model, *w.data, w.rates, w.row_columns.leftCols(nv),
                            w.row_columns.middleCols(width, nv));
    w.blocks.leftCols(width) *= -1.0 / h;
  }
  solve_mass_matrix_columns(*w.model, *w.data, w.blocks);
  w.blocks *= h;
  for (int d = 0; d < nv; ++d) w.blocks(d, width + d) += 1.0;
  if (rows > 0) w.constrain(total);

  auto v_by_state = by_state.middleRows(nv, nv);
  v_by_state.leftCols(nv) = w.blocks.leftCols(nv);
  v_by_state.middleCols(nv, nv) = w.blocks.middleCols(width, nv);
  v_by_state.rightCols(na) = w.blocks.middleCols(2 * width, na);
  if (nu > 0) by_control.middleRows(nv, nv) = w.blocks.middleCols(2 * width + na, nu);
  w.output.complete(by_state, by_control);
}

// blocks <- N + P X
void ImpulseDerivatives::Work::constrain(int total) {
  const ContactRows& r = step->rows;
  r.add_velocities(blocks.data(), total, total, row_columns.data());
  const auto& islands = r.islands();
  for (size_t k = 0; k < islands.size(); ++k)
    laws[k].solve_columns(row_columns.data() + static_cast<std::size_t>(islands[k].row_begin) * total, total);
  // row_columns now holds dlam. Few rows carry something: Mhat^-1 J^T of those is cheaper than of all
  // columns.
  carrying.clear();
  for (int i = 0; i < r.size(); ++i) {
    if (!row_columns.row(i).head(total).isZero(0.0)) carrying.push_back(i);
  }
  const int few = (static_cast<int>(carrying.size()) + 3) / 4 * 4;
  if (2 * few <= total / 4) {
    unit_rows.setZero(r.size(), few);
    for (size_t k = 0; k < carrying.size(); ++k) unit_rows(carrying[k], static_cast<int>(k)) = 1.0;
    impulse_columns.setZero(nv, few);
    r.add_impulse_columns(unit_rows.data(), few, few, impulse_columns.data());
    solve_mass_matrix_columns(*model, *data, impulse_columns);
    for (int d = 0; d < nv; ++d) {
      for (size_t k = 0; k < carrying.size(); ++k)
        strip_add(&blocks(d, 0), &row_columns(carrying[k], 0), impulse_columns(d, static_cast<int>(k)),
                  total);
    }
  } else {
    impulse_columns.setZero(nv, total);
    r.add_impulse_columns(row_columns.data(), total, total, impulse_columns.data());
    solve_mass_matrix_columns(*model, *data, impulse_columns);
    blocks += impulse_columns;
  }
  if (may_choose()) choose_columns(total);
}

}  // namespace articula
