#include "articula/derivatives/contact_free.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

ContactFreeDerivatives::ContactFreeDerivatives(const Model& model)
    : nv_(model.nv()),
      ntheta_(static_cast<int>(model.theta().size())),
      rnea_(model),
      parameters_(model),
      width_((model.nv() + 3) / 4 * 4),
      step_rate_(VectorX::Zero(model.nv())),
      scratch_(model.nv()),
      scratch2_(model.nv()),
      gyroscopic_(model.nlink()) {
  blocks_ = RowMatrix::Zero(nv_, 3 * width_);
  for (const JointIndex& joint : model.structure().joints) {
    if (turning_dof(joint) >= 0) turning_.push_back(turning_dof(joint));
  }
  turn_by_q_.resize(turning_.size());
  turn_by_v_.resize(turning_.size());
}

void ContactFreeDerivatives::prepare(const Model& model, Data& data, const ContactFreeWork& step,
                                     const ContactFreeSettings& settings) {
  model_ = &model;
  data_ = &data;
  step_ = &step;
  settings_ = settings;
  options_ = {settings.external, settings.implicit_gyroscopic ? settings.dt : 0.0};
  parameters_ready_ = false;
  // The step saw the forces at zero acceleration; the derivatives need those of the motion.
  propagate_motion(model, data, step.v.data(), step.acceleration.data());
  gather_forces(model, data, options_);
  prepare_rnea_derivatives(model, data, rnea_, step.v.data(), step.acceleration.data(), options_);
  turn_rates();
}

// q (+) h v+ on turning blocks: exp(-h v+) with respect to q, Jr(h v+) with respect to h v+.
void ContactFreeDerivatives::turn_rates() {
  for (size_t i = 0; i < turning_.size(); ++i) {
    const Vec3 turn = load3(step_->v_next.data() + turning_[i]) * settings_.dt;
    turn_by_q_[i] = rotation_matrix(exp_rotation(-turn));
    turn_by_v_[i] = right_jacobian(turn);
  }
}

void ContactFreeDerivatives::solve(VectorRef r) { solve_mass_matrix(*model_, *data_, r); }

// The torque of freely turning bodies depends on h itself.
void ContactFreeDerivatives::gyroscopic_rate() {
  step_rate_.setZero();
  if (options_.gyroscopic_step <= 0.0) return;
  const Structure& s = model_->structure();
  for (int k = 1; k < model_->nlink(); ++k) {
    gyroscopic_[k] = {};
    if (!turns_freely(s, s.links[k])) continue;
    gyroscopic_[k].moment = gyroscopic_step_change(inertia_about_com(data_->local_inertia[k]),
                                                   data_->link_v[k].angular, options_.gyroscopic_step);
  }
  for (int k = model_->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) step_rate_[d] = dot(data_->S[d], gyroscopic_[k]);
    if (!link.root) gyroscopic_[link.parent] += gyroscopic_[k];
  }
}

namespace {

// Damping of each dof in theta.
template <class Visit>
void for_each_damping(const Structure& s, Visit visit) {
  for (size_t j = 0; j < s.joints.size(); ++j) {
    const int end = j + 1 < s.joints.size() ? s.joints[j + 1].dof : s.nv;
    for (int d = s.joints[j].dof; d < end; ++d) visit(d, s.joints[j].damping);
  }
}

}  // namespace

void ContactFreeDerivatives::residual_along(const ConstVectorRef& dz, VectorRef dr) {
  const Structure& s = model_->structure();
  const auto dq = dz.segment(0, nv_), dv = dz.segment(nv_, nv_), dtau = dz.segment(2 * nv_, nv_);
  const auto dtheta = dz.segment(3 * nv_, ntheta_);
  const Eigen::Map<const VectorX> damping(model_->constants().damping.data(), nv_);
  scratch_.setZero();
  rnea_directional(*model_, *data_, rnea_, options_.external != nullptr, dq, dv, scratch_, dr);
  scratch_ = dtau - damping.cwiseProduct(dv);
  const bool changes = !dtheta.isZero(0.0);
  add_spring_directional(*model_, step_->q, dq, changes ? dtheta.data() : nullptr, scratch_);
  dr -= scratch_;
  if (!changes) return;
  if (!parameters_ready_) {
    prepare_parameter_derivatives(*model_, *data_, parameters_, step_->q, options_);
    gyroscopic_rate();
    parameters_ready_ = true;
  }
  rnea_parameter_directional(*model_, *data_, parameters_, step_->acceleration, options_, dtheta, scratch_);
  dr += scratch_;
  for_each_damping(s, [&](int d, int offset) { dr[d] += dtheta[offset] * step_->v_next[d]; });
  const double dh = dtheta[s.timestep];
  dr += dh * (damping.cwiseProduct(step_->acceleration) + step_rate_);
}

void ContactFreeDerivatives::residual_against(const ConstVectorRef& y, VectorRef z_bar) {
  const Structure& s = model_->structure();
  const Eigen::Map<const VectorX> damping(model_->constants().damping.data(), nv_);
  rnea_adjoint(*model_, *data_, rnea_, options_.external != nullptr, y, scratch_, scratch2_);
  z_bar.segment(0, nv_) -= scratch_;
  z_bar.segment(nv_, nv_) -= scratch2_ + damping.cwiseProduct(y);
  z_bar.segment(2 * nv_, nv_) += y;
  add_spring_adjoint(*model_, step_->q, y, z_bar.segment(0, nv_), z_bar.data() + 3 * nv_);
  if (!parameters_ready_) {
    prepare_parameter_derivatives(*model_, *data_, parameters_, step_->q, options_);
    gyroscopic_rate();
    parameters_ready_ = true;
  }
  auto theta_bar = z_bar.segment(3 * nv_, ntheta_);
  scratch_ = -y;
  rnea_parameter_adjoint(*model_, *data_, parameters_, step_->acceleration, options_, scratch_, theta_bar);
  for_each_damping(s, [&](int d, int offset) { theta_bar[offset] -= y[d] * step_->v_next[d]; });
  theta_bar[s.timestep] -= y.dot(damping.cwiseProduct(step_->acceleration) + step_rate_);
}

// dv+ = dv + h da + a dh,    dq+ = E dq + Jr (h dv+ + v+ dh)
void ContactFreeDerivatives::output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) {
  const double h = settings_.dt, dh = dz[3 * nv_ + model_->structure().timestep];
  auto dq_next = dx.segment(0, nv_), dv_next = dx.segment(nv_, nv_);
  dv_next = dz.segment(nv_, nv_) + h * dw + dh * step_->acceleration;
  scratch_ = h * dv_next + dh * step_->v_next;
  dq_next = dz.segment(0, nv_) + scratch_;
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    store3(dq_next.data() + d,
           turn_by_q_[i] * load3(dz.data() + d) + turn_by_v_[i] * load3(scratch_.data() + d));
  }
}

void ContactFreeDerivatives::output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) {
  const double h = settings_.dt;
  auto q_bar = z_bar.segment(0, nv_), v_bar = z_bar.segment(nv_, nv_);
  q_bar = x_bar.segment(0, nv_);
  scratch_ = q_bar;  // covector of h v+
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    const Vec3 turn = load3(x_bar.data() + d);
    store3(q_bar.data() + d, transpose_times(turn_by_q_[i], turn));
    store3(scratch_.data() + d, transpose_times(turn_by_v_[i], turn));
  }
  v_bar = x_bar.segment(nv_, nv_) + h * scratch_;
  w_bar = h * v_bar;
  z_bar.segment(2 * nv_, nv_).setZero();
  z_bar.segment(3 * nv_, ntheta_).setZero();
  z_bar[3 * nv_ + model_->structure().timestep] =
      scratch_.dot(step_->v_next) + v_bar.dot(step_->acceleration);
}

// a by (q, v, tau) = -(M + h D)^-1 [dr/dq, dr/dv, -1], all columns at once.
void ContactFreeDerivatives::jacobians(MatrixRef by_state, MatrixRef by_tau) {
  const double h = settings_.dt;
  require_size("rows of by_state", by_state.rows(), 2 * nv_);
  require_size("columns of by_state", by_state.cols(), 2 * nv_);
  require_size("rows of by_tau", by_tau.rows(), 2 * nv_);
  require_size("columns of by_tau", by_tau.cols(), nv_);
  blocks_.setZero();
  assemble_rnea_derivatives(*model_, *data_, rnea_, options_.external != nullptr, -1.0,
                            {blocks_.data(), blocks_.data() + width_, static_cast<int>(blocks_.cols()), 1});
  add_spring_jacobian(*model_, step_->q, 1.0, blocks_.data(), static_cast<int>(blocks_.cols()), 1);
  for (int d = 0; d < nv_; ++d) blocks_(d, width_ + d) -= model_->constants().damping[d];
  solve_mass_matrix_columns(*model_, *data_, blocks_.leftCols(2 * width_));
  inverse_mass_matrix(*model_, *data_, blocks_.middleCols(2 * width_, nv_));
  // v+ rows, then q+ rows = Jr h (v+ rows), and what q itself carries over.
  by_state.bottomLeftCorner(nv_, nv_) = h * blocks_.leftCols(nv_);
  by_state.bottomRightCorner(nv_, nv_) = h * blocks_.middleCols(width_, nv_);
  by_tau.bottomRows(nv_) = h * blocks_.middleCols(2 * width_, nv_);
  by_state.bottomRightCorner(nv_, nv_).diagonal().array() += 1.0;
  by_state.topRows(nv_) = h * by_state.bottomRows(nv_);
  by_tau.topRows(nv_) = h * by_tau.bottomRows(nv_);
  for (size_t i = 0; i < turning_.size(); ++i) {
    const Matrix3 rate = turn_by_v_[i].eigen();
    for (int c = 0; c < 2 * nv_; ++c) {
      by_state.col(c).segment<3>(turning_[i]) = (rate * by_state.col(c).segment<3>(turning_[i])).eval();
    }
    for (int c = 0; c < nv_; ++c) {
      by_tau.col(c).segment<3>(turning_[i]) = (rate * by_tau.col(c).segment<3>(turning_[i])).eval();
    }
  }
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
}

}  // namespace articula
