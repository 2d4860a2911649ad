#include "articula/derivatives/contact_free.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

ContactFreeDerivatives::ContactFreeDerivatives(const Model& model)
    : nv_(model.nv()),
      na_(model.na()),
      nu_(model.nu()),
      residual_(model),
      output_(model),
      inverse_(RowMatrix::Zero(model.nv(), model.nv())),
      scratch_(model.nv()) {
  blocks_ = RowMatrix::Zero(nv_, (2 * nv_ + na_ + nu_ + 3) / 4 * 4);
}

void ContactFreeDerivatives::prepare(const Model& model, Data& data, const ContactFreeWork& step,
                                     const StepSettings& settings) {
  model_ = &model;
  data_ = &data;
  step_ = &step;
  h_ = settings.dt;
  residual_.prepare(model, data, step.free, settings, step.free.acceleration);
  output_.prepare(model, step.free, step.v_next, h_);
}

void ContactFreeDerivatives::solve(VectorRef r) { solve_mass_matrix(*model_, *data_, r); }

// dv+ = dv + h da + a dh
void ContactFreeDerivatives::output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) {
  const double dh = dz[layout().theta + model_->structure().timestep];
  scratch_ = dz.segment(layout().v, nv_) + h_ * dw + dh * step_->free.acceleration;
  output_.along(layout(), scratch_, dz, dx);
}

void ContactFreeDerivatives::output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) {
  output_.against(layout(), x_bar, wants_parameters_, scratch_, z_bar);
  z_bar.segment(layout().v, nv_) = scratch_;
  w_bar = h_ * scratch_;
  if (wants_parameters_)
    z_bar[layout().theta + model_->structure().timestep] += scratch_.dot(step_->free.acceleration);
}

// a by (q, v, w, u) = -Mhat^-1 dr/d., all columns at once; by forces: Mhat^-1.
void ContactFreeDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control, MatrixRef by_force) {
  const int n = 2 * nv_ + na_;
  const bool whole = by_state.rows() != nv_;
  const int above = whole ? nv_ : 0;  // rows of q+
  require_size("columns of by_state", by_state.cols(), n);
  for (const auto* matrix : {&by_state, &by_control, &by_force}) {
    if (matrix->cols() > 0) require_size("rows of a Jacobian", matrix->rows(), whole ? n : nv_);
  }
  if (by_control.cols() > 0) require_size("columns of by_control", by_control.cols(), nu_);
  blocks_.setZero();
  residual_.jacobians(-1.0, {blocks_.data(), blocks_.data() + nv_, static_cast<int>(blocks_.cols()), 1});
  residual_.input_jacobians(-1.0, blocks_.middleCols(2 * nv_, na_), blocks_.middleCols(2 * nv_ + na_, nu_));
  solve_mass_matrix_columns(*model_, *data_, blocks_);
  auto v_by_state = by_state.middleRows(above, nv_);
  v_by_state.leftCols(nv_) = h_ * blocks_.leftCols(nv_);
  v_by_state.middleCols(nv_, nv_) = h_ * blocks_.middleCols(nv_, nv_);
  v_by_state.rightCols(na_) = h_ * blocks_.middleCols(2 * nv_, na_);
  v_by_state.middleCols(nv_, nv_).diagonal().array() += 1.0;
  if (by_control.cols() > 0) by_control.middleRows(above, nv_) = h_ * blocks_.middleCols(2 * nv_ + na_, nu_);
  if (whole) output_.complete(by_state, by_control);
  if (by_force.cols() == 0) return;
  require_size("columns of by_force", by_force.cols(), nv_);
  inverse_mass_matrix(*model_, *data_, inverse_);
  by_force.middleRows(above, nv_) = h_ * inverse_;
  if (!whole) return;
  by_force.bottomRows(na_).setZero();
  output_.position_rows(by_force);
}

void ContactFreeDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control) {
  Eigen::Map<MatrixX> none(nullptr, outputs(), 0);
  jacobians(by_state, by_control, none);
}

}  // namespace articula
