// All columns at once, in coordinates that make the mass matrix one: with Mhat = L^T D L,
//   W = D^-1/2 L^-T J^T,   Z = -D^-1/2 L^-T dr1,
//   K X = -A^T (W^T Z + dsigma),   dv+ = L^-1 D^-1/2 (Z + W B X)
// dr1/dv = -Mhat + ...: the part of Mhat is known, J and 1, and added as such.

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
  w.velocity_columns();
  const int total = static_cast<int>(w.blocks.cols());
  if (rows > 0 && w.may_choose()) {
    for (int i = 0; i < rows; ++i) {
      if (!w.carries[i]) w.row_columns.row(i).setZero();
    }
    w.choose_columns();
  }

  // v+ behind q+, of which the rows are h times those of v+, but for what turns.
  const double h = w.settings.dt;
  copy_transposed(w.blocks.data(), total, nv, n, by_state.data() + nv, by_state.data(), h,
                  static_cast<int>(by_state.outerStride()));
  w.output.turn_rows(by_state);
  if (nu > 0) {
    copy_transposed(w.blocks.data() + n, total, nv, nu, by_control.data() + nv, by_control.data(), h,
                    static_cast<int>(by_control.outerStride()));
    w.output.turn_rows(by_control);
  }
  w.output.add_explicit(by_state, by_control);
}

// blocks: v+ by q, v, activations, controls; row_columns: impulses of rows that carry something.
void ImpulseDerivatives::Work::velocity_columns() {
  const double h = settings.dt;
  const int rows = step->rows.size(), total = (2 * nv + na + nu + 3) / 4 * 4;
  blocks.resize(nv, total);
  blocks.setZero();
  hold_contacts();
  // -dr1 / d(q, v, w, u); of -dr1/dv, without Mhat
  residual.jacobians(-h, {blocks.data(), blocks.data() + nv, total, 1});
  residual.input_jacobians(-h, blocks.middleCols(2 * nv, na), blocks.middleCols(2 * nv + na, nu));
  if (rows > 0) {
    row_columns.resize(rows, total);
    list_rows();
    for (int i = 0; i < rows; ++i) {
      if (modes[i] != RowMode::free) row_columns.row(i).setZero();
    }
    columns.add(*model, *data, after, *step, rates, 1.0, row_columns.leftCols(nv), blocks.data(), total);
    if (bounces)
      columns.add_bounces(*model, *data, rates, row_columns.leftCols(nv), row_columns.middleCols(nv, nv));
    add_softening_columns();
  }
  if (rows > 0 && grants_slack(false)) add_slack_columns();
  if (rows > 0)
    solve_constrained();
  else
    solve_mass_matrix_columns(*model, *data, blocks);
  for (int d = 0; d < nv; ++d) blocks(d, nv + d) += 1.0;
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

// blocks: from -dr1 to dv+; row_columns: from dsigma to impulses.
void ImpulseDerivatives::Work::solve_constrained() {
  const ContactRows& r = step->rows;
  const int total = static_cast<int>(blocks.cols());
  project_columns(*model, *data, r.root_inverse(), blocks);
  equations.add_velocities(blocks.data(), total, row_columns.data());
  equations.add_jacobian(total, row_columns.data() + nv);
  const auto& islands = r.islands();
  for (size_t k = 0; k < islands.size(); ++k)
    laws[k].solve_columns(row_columns.data() + static_cast<std::size_t>(islands[k].row_begin) * total, total);
  carrying.add_impulses(row_columns.data(), total, blocks.data());
  recover_columns(*model, *data, r.root_inverse(), blocks);
}

}  // namespace articula
