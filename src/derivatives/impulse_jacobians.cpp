// dv+ = N + P X:  N = -Mhat^-1 dr1,  K X = -A^T (J N + dsigma),  P = Mhat^-1 J^T B, all columns at once.

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
  // -dr1 / d(q, v, w, u); of -dr1/dv, without Mhat
  w.residual.jacobians(-h, {w.blocks.data(), w.blocks.data() + width, total, 1});
  w.residual.input_jacobians(-h, w.blocks.middleCols(2 * width, na), w.blocks.middleCols(2 * width + na, nu));
  if (rows > 0) {
    w.row_columns.resize(rows, total);
    w.list_rows();
    for (int i = 0; i < rows; ++i) {
      if (w.modes[i] != RowMode::free) w.row_columns.row(i).setZero();
    }
    w.columns.add(*w.model, w.after, *w.step, w.rates, 1.0, w.row_columns.leftCols(nv), w.blocks.data(),
                  total);
    if (w.bounces)
      w.columns.add_bounces(*w.model, *w.data, w.rates, w.row_columns.leftCols(nv),
                            w.row_columns.middleCols(width, nv));
  }
  if (rows > 0 && w.grants_slack()) {  // it depends on q alone
    w.find_slack(false);
    for (int i = 0; i < rows; ++i) {
      if (w.modes[i] == RowMode::hold)
        w.row_columns.row(i).head(nv) -= w.slack.by_input.row(i).segment(layout().q, nv);
    }
  }
  solve_mass_matrix_columns(*w.model, *w.data, w.blocks);
  for (int d = 0; d < nv; ++d) w.blocks(d, width + d) += 1.0;
  if (rows > 0) w.constrain(total);

  const int stride = static_cast<int>(by_state.outerStride());
  double* to = by_state.data() + nv;
  copy_transposed(w.blocks.data(), total, nv, nv, to, stride);
  copy_transposed(w.blocks.data() + width, total, nv, nv, to + static_cast<std::size_t>(nv) * stride, stride);
  copy_transposed(w.blocks.data() + 2 * width, total, nv, na, to + 2 * static_cast<std::size_t>(nv) * stride,
                  stride);
  if (nu > 0)
    copy_transposed(w.blocks.data() + 2 * width + na, total, nv, nu, by_control.data() + nv,
                    static_cast<int>(by_control.outerStride()));
  w.output.complete(by_state, by_control);
}

// Rows whose law is an equation of velocities, and rows that carry what changes.
void ImpulseDerivatives::Work::list_rows() {
  const ContactRows& r = step->rows;
  in_equations.assign(r.size(), 0);
  carries.assign(r.size(), 0);
  for (size_t k = 0; k < r.islands().size(); ++k) {
    const int begin = r.islands()[k].row_begin;
    laws[k].mark_rows(in_equations.data() + begin, carries.data() + begin);
  }
  equations.list(r, step->constraints, in_equations);
  if (carries == in_equations)
    carrying = equations;
  else
    carrying.list(r, step->constraints, carries);
}

// blocks <- N + P X. Mhat^-1 J^T of the rows that carry something, or of all columns: what costs less.
void ImpulseDerivatives::Work::constrain(int total) {
  const ContactRows& r = step->rows;
  equations.add_velocities(blocks.data(), total, row_columns.data());
  const auto& islands = r.islands();
  for (size_t k = 0; k < islands.size(); ++k)
    laws[k].solve_columns(row_columns.data() + static_cast<std::size_t>(islands[k].row_begin) * total, total);
  const Structure& s = model->structure();
  long factor = 0;  // entries
  for (const DofIndex& dof : s.dofs) factor += dof.depth;
  const int count = carrying.count(), few = (count + 3) / 4 * 4;
  const long by_rows = 2 * factor * few + static_cast<long>(nv) * count * total,
             by_columns = 2 * factor * total + static_cast<long>(carrying.entries()) * 3 * total;
  if (by_rows < by_columns) {
    impulse_columns.setZero(nv, few);
    carrying.add_transposed(impulse_columns.data(), few);
    solve_mass_matrix_columns(*model, *data, impulse_columns);
    carried.resize(count);
    for (int k = 0; k < count; ++k) carried[k] = &row_columns(carrying.row(k), 0);
    add_product(impulse_columns.data(), few, nv, count, carried.data(), total, blocks.data(), total);
  } else {
    impulse_columns.setZero(nv, total);
    carrying.add_impulses(row_columns.data(), total, impulse_columns.data());
    solve_mass_matrix_columns(*model, *data, impulse_columns);
    blocks += impulse_columns;
  }
  if (!may_choose()) return;
  for (int i = 0; i < r.size(); ++i) {
    if (!carries[i]) row_columns.row(i).setZero();
  }
  choose_columns(total);
}

}  // namespace articula
