#include "articula/derivatives/contact_free.hpp"

#include "articula/dynamics/activation.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

ContactFreeDerivatives::ContactFreeDerivatives(const Model& model)
    : nv_(model.nv()),
      na_(model.na()),
      nu_(model.nu()),
      residual_(model),
      inverse_(RowMatrix::Zero(model.nv(), model.nv())),
      width_((model.nv() + 3) / 4 * 4),
      scratch_(model.nv()) {
  blocks_ = RowMatrix::Zero(nv_, (2 * width_ + na_ + nu_ + 3) / 4 * 4);
  for (const JointIndex& joint : model.structure().joints) {
    if (turning_dof(joint) >= 0) turning_.push_back(turning_dof(joint));
  }
  turn_by_q_.resize(turning_.size());
  turn_by_v_.resize(turning_.size());
}

void ContactFreeDerivatives::prepare(const Model& model, Data& data, const ContactFreeWork& step,
                                     const StepSettings& settings) {
  model_ = &model;
  data_ = &data;
  step_ = &step;
  h_ = settings.dt;
  residual_.prepare(model, data, step.free, settings, step.free.acceleration);
  turn_rates();
}

// q (+) h v+ on turning blocks: exp(-h v+) with respect to q, Jr(h v+) with respect to h v+.
void ContactFreeDerivatives::turn_rates() {
  for (size_t i = 0; i < turning_.size(); ++i) {
    const Vec3 turn = load3(step_->v_next.data() + turning_[i]) * h_;
    turn_by_q_[i] = rotation_matrix(exp_rotation(-turn));
    turn_by_v_[i] = right_jacobian(turn);
  }
}

void ContactFreeDerivatives::solve(VectorRef r) { solve_mass_matrix(*model_, *data_, r); }

// dv+ = dv + h da + a dh,    dq+ = E dq + Jr (h dv+ + v+ dh)
void ContactFreeDerivatives::output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) {
  const StepInputs& in = layout();
  const double dh = dz[in.theta + model_->structure().timestep];
  auto dq_next = dx.segment(0, nv_), dv_next = dx.segment(nv_, nv_);
  dv_next = dz.segment(in.v, nv_) + h_ * dw + dh * step_->free.acceleration;
  scratch_ = h_ * dv_next + dh * step_->v_next;
  dq_next = dz.segment(in.q, nv_) + scratch_;
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    store3(dq_next.data() + d,
           turn_by_q_[i] * load3(dz.data() + in.q + d) + turn_by_v_[i] * load3(scratch_.data() + d));
  }
  next_activations_directional(*model_, step_->free.activation, step_->free.control, h_,
                               dz.segment(in.activation, na_), dz.segment(in.control, nu_), dh,
                               dx.segment(2 * nv_, na_));
}

void ContactFreeDerivatives::output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) {
  const StepInputs& in = layout();
  z_bar.setZero();
  auto q_bar = z_bar.segment(in.q, nv_), v_bar = z_bar.segment(in.v, nv_);
  q_bar = x_bar.segment(0, nv_);
  scratch_ = q_bar;  // covector of h v+
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    const Vec3 turn = load3(x_bar.data() + d);
    store3(q_bar.data() + d, transpose_times(turn_by_q_[i], turn));
    store3(scratch_.data() + d, transpose_times(turn_by_v_[i], turn));
  }
  v_bar = x_bar.segment(nv_, nv_) + h_ * scratch_;
  w_bar = h_ * v_bar;
  const double h_bar = next_activations_adjoint(
      *model_, step_->free.activation, step_->free.control, h_, x_bar.segment(2 * nv_, na_),
      z_bar.segment(in.activation, na_), z_bar.segment(in.control, nu_));
  z_bar[in.theta + model_->structure().timestep] =
      h_bar + scratch_.dot(step_->v_next) + v_bar.dot(step_->free.acceleration);
}

namespace {

// Rows of q+ from those of v+: h Jr (v+ rows).
void position_rows(MatrixRef J, int nv, double h, const std::vector<int>& turning,
                   const std::vector<Mat3>& turn_by_v) {
  J.topRows(nv) = h * J.middleRows(nv, nv);
  for (size_t i = 0; i < turning.size(); ++i) {
    for (Eigen::Index c = 0; c < J.cols(); ++c) {
      double* turn = &J(turning[i], c);
      store3(turn, turn_by_v[i] * load3(turn));
    }
  }
}

}  // namespace

// What q and the activations carry over by themselves.
void ContactFreeDerivatives::carry_over(MatrixRef by_state, MatrixRef by_control) {
  size_t turning = 0;
  for (int d = 0; d < nv_;) {
    if (turning < turning_.size() && turning_[turning] == d) {
      by_state.block<3, 3>(d, d) += turn_by_q_[turning++].eigen();
      d += 3;
    } else {
      by_state(d, d) += 1.0;
      ++d;
    }
  }
  by_state.bottomRows(na_).setZero();
  if (nu_ > 0) by_control.bottomRows(na_).setZero();
  const Structure& s = model_->structure();
  for (int i = 0; i < nu_; ++i) {
    const int w = s.actuators[i].activation;
    if (w < 0) continue;
    const ActivationStep step = activation_step(model_->description().actuators[i], step_->free.activation[w],
                                                step_->free.control[i], h_);
    by_state(2 * nv_ + w, 2 * nv_ + w) = step.by_activation;
    by_control(2 * nv_ + w, i) = step.by_control;
  }
}

// a by (q, v, w, u) = -Mhat^-1 dr/d., all columns at once; by forces: Mhat^-1.
void ContactFreeDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control, MatrixRef by_force) {
  const int n = 2 * nv_ + na_;
  require_size("rows of by_state", by_state.rows(), n);
  require_size("columns of by_state", by_state.cols(), n);
  require_size("rows of by_control", by_control.rows(), n);
  require_size("columns of by_control", by_control.cols(), nu_);
  blocks_.setZero();
  residual_.jacobians(-1.0, {blocks_.data(), blocks_.data() + width_, static_cast<int>(blocks_.cols()), 1});
  residual_.input_jacobians(-1.0, blocks_.middleCols(2 * width_, na_),
                            blocks_.middleCols(2 * width_ + na_, nu_));
  solve_mass_matrix_columns(*model_, *data_, blocks_);
  auto v_by_state = by_state.middleRows(nv_, nv_);
  v_by_state.leftCols(nv_) = h_ * blocks_.leftCols(nv_);
  v_by_state.middleCols(nv_, nv_) = h_ * blocks_.middleCols(width_, nv_);
  v_by_state.rightCols(na_) = h_ * blocks_.middleCols(2 * width_, na_);
  v_by_state.middleCols(nv_, nv_).diagonal().array() += 1.0;
  if (nu_ > 0) by_control.middleRows(nv_, nv_) = h_ * blocks_.middleCols(2 * width_ + na_, nu_);
  position_rows(by_state, nv_, h_, turning_, turn_by_v_);
  if (nu_ > 0) position_rows(by_control, nv_, h_, turning_, turn_by_v_);
  carry_over(by_state, by_control);
  if (by_force.cols() == 0) return;
  require_size("rows of by_force", by_force.rows(), n);
  require_size("columns of by_force", by_force.cols(), nv_);
  inverse_mass_matrix(*model_, *data_, inverse_);
  by_force.middleRows(nv_, nv_) = h_ * inverse_;
  by_force.bottomRows(na_).setZero();
  position_rows(by_force, nv_, h_, turning_, turn_by_v_);
}

void ContactFreeDerivatives::jacobians(MatrixRef by_state, MatrixRef by_control) {
  Eigen::Map<MatrixX> none(nullptr, outputs(), 0);
  jacobians(by_state, by_control, none);
}

}  // namespace articula
