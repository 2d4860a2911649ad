// All columns at once, in coordinates that make the mass matrix one: with Mhat = L^T D L,
//   W = D^-1/2 L^-T J^T,   Z = -D^-1/2 L^-T dr1,
//   K X = -A^T (W^T Z + dsigma),   dv+ = L^-1 D^-1/2 (Z + W B X)
// dr1/dv = -Mhat + ...: the part of Mhat is known, J and 1, and added as such.

#include <algorithm>

#include "articula/model/sizes.hpp"
#include "impulse_work.hpp"

namespace articula {

void ImpulseDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control, MatrixRef by_force) {
  Work& w = *work_;
  const int nv = w.nv, n = 2 * nv + w.na, rows = w.step->rows.size();
  const bool whole = by_state.rows() != nv;
  require_size("columns of by_state", by_state.cols(), n);
  for (const auto* matrix : {&by_state, &by_control, &by_force}) {
    if (matrix->cols() > 0) require_size("rows of a Jacobian", matrix->rows(), whole ? n : nv);
  }
  w.by_control = by_control.cols() > 0;
  w.by_force = by_force.cols() > 0;
  if (w.by_control) require_size("columns of by_control", by_control.cols(), w.nu);
  if (w.by_force) require_size("columns of by_force", by_force.cols(), nv);
  w.velocity_columns();
  if (rows > 0 && w.may_choose()) {
    for (int i = 0; i < rows; ++i) {
      if (!w.carries[i]) w.row_columns.row(i).setZero();
    }
    w.choose_columns();
  }
  int column = 0;
  for (MatrixRef* matrix : {&by_state, &by_control, &by_force}) {
    w.give_columns(column, whole, *matrix);
    column += static_cast<int>(matrix->cols());
  }
  if (whole) w.output.add_explicit(by_state, by_control);
  if (whole && w.by_force) by_force.bottomRows(w.na).setZero();
}

void ImpulseDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control) {
  Eigen::Map<MatrixX> none(nullptr, by_state.rows(), 0);
  jacobians(by_state, by_control, none);
}

bool ImpulseDerivatives::nearly_singular() const {
  constexpr double few_digits = 1e-5;  // of pivots
  const Work& w = *work_;
  const auto end = w.laws.begin() + static_cast<long>(w.step->rows.islands().size());
  return !w.relabelled && std::any_of(w.laws.begin(), end,
                                      [](const LawSystem& law) { return law.conditioning() < few_digits; });
}

// Of what has columns, z_bar = (dx+/dz)^T x_bar.
void ImpulseDerivatives::refine_against(const ConstVectorRef& x_bar, VectorRef z_bar) {
  if (!nearly_singular()) return;
  const StepInputs& at = layout();
  const int n = outputs(), nu = at.force - at.control, nv = at.wrench - at.force;
  MatrixX& columns = work_->jacobian;
  columns.resize(n, n + nu + nv);
  jacobians(columns.leftCols(n), columns.middleCols(n, nu), columns.rightCols(nv));
  z_bar.head(n) = columns.leftCols(n).transpose() * x_bar;
  z_bar.segment(at.control, nu) = columns.middleCols(n, nu).transpose() * x_bar;
  z_bar.segment(at.force, nv) = columns.rightCols(nv).transpose() * x_bar;
}

// v+, behind q+, of which the rows are h times those of v+, but for what turns.
void ImpulseDerivatives::Work::give_columns(int first, bool with_positions, MatrixRef to) const {
  if (to.cols() == 0) return;
  const int total = static_cast<int>(blocks.cols()), count = static_cast<int>(to.cols()),
            stride = static_cast<int>(to.outerStride());
  const double* from = blocks.data() + first;
  if (!with_positions) return copy_transposed(from, total, nv, count, to.data(), stride);
  copy_transposed(from, total, nv, count, to.data() + nv, to.data(), settings.dt, stride);
  output.turn_rows(to);
}

// blocks: v+ by q, v, activations, controls, forces; row_columns: impulses of rows that carry something.
void ImpulseDerivatives::Work::velocity_columns() {
  const double h = settings.dt;
  const int rows = step->rows.size(), total = (count_columns() + 3) / 4 * 4;
  blocks.resize(nv, total);
  blocks.setZero();
  if (rows > 0) {
    row_columns.resize(rows, total);
    list_rows();
    for (int i = 0; i < rows; ++i) {
      if (modes[i] != RowMode::free) row_columns.row(i).setZero();
    }
  }
  const bool on_bodies = rates.on_bodies();
  if (on_bodies) {
    posed.clear();
    rates.add_wrenches(1.0 / h, posed);
    columns.add_grounded(*model, *data, after, rates, h, row_columns.leftCols(nv), posed);
  }
  // -dr1 / d(q, v, w, u); of -dr1/dv, without Mhat
  residual.jacobians(-h, {blocks.data(), blocks.data() + nv, total, 1}, on_bodies ? &posed : nullptr);
  if (by_control)
    residual.input_jacobians(-h, blocks.middleCols(2 * nv, na), blocks.middleCols(2 * nv + na, nu));
  if (!by_control && na > 0) {
    unwanted.setZero(nv, nu);
    residual.input_jacobians(-h, blocks.middleCols(2 * nv, na), unwanted);
  }
  if (by_force) blocks.middleCols(count_columns() - nv, nv).diagonal().array() += h;
  if (rows > 0) {
    columns.add(*model, *data, after, *step, rates, 1.0, row_columns.leftCols(nv), blocks.data(), total,
                false);
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
