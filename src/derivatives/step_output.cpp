#include "articula/derivatives/step_output.hpp"

#include "articula/dynamics/activation.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"

namespace articula {

StepOutput::StepOutput(const Model& model)
    : nv_(model.nv()),
      na_(model.na()),
      nu_(model.nu()),
      scratch_(model.nv()) {
  for (const JointIndex& joint : model.structure().joints) {
    if (turning_dof(joint) >= 0) turning_.push_back(turning_dof(joint));
  }
  turn_by_q_.resize(turning_.size());
  turn_by_v_.resize(turning_.size());
}

// q (+) h v+ on turning blocks: exp(-h v+) with respect to q, Jr(h v+) with respect to h v+.
void StepOutput::prepare(const Model& model, const FreeMotionWork& step, const VectorX& v_next, double h) {
  model_ = &model;
  step_ = &step;
  v_next_ = &v_next;
  h_ = h;
  for (size_t i = 0; i < turning_.size(); ++i) {
    const Vec3 turn = load3(v_next.data() + turning_[i]) * h;
    turn_by_q_[i] = rotation_matrix(exp_rotation(-turn));
    turn_by_v_[i] = right_jacobian(turn);
  }
}

// dq+ = E dq + Jr (h dv+ + v+ dh)
void StepOutput::along(const StepInputs& in, const ConstVectorRef& dv_next, const ConstVectorRef& dz,
                       VectorRef dx) {
  const double dh = dz[in.theta + model_->structure().timestep];
  auto dq_next = dx.segment(0, nv_);
  dx.segment(nv_, nv_) = dv_next;
  scratch_ = h_ * dv_next + dh * *v_next_;
  dq_next = dz.segment(in.q, nv_) + scratch_;
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    store3(dq_next.data() + d,
           turn_by_q_[i] * load3(dz.data() + in.q + d) + turn_by_v_[i] * load3(scratch_.data() + d));
  }
  next_activations_directional(*model_, step_->activation, step_->control, h_, dz.segment(in.activation, na_),
                               dz.segment(in.control, nu_), dh, dx.segment(2 * nv_, na_));
}

void StepOutput::against(const StepInputs& in, const ConstVectorRef& x_bar, bool parameters,
                         VectorRef v_next_bar, VectorRef z_bar) {
  z_bar.head(parameters ? in.size : in.theta).setZero();
  auto q_bar = z_bar.segment(in.q, nv_);
  for (int d = 0; d < nv_; ++d) q_bar[d] = scratch_[d] = x_bar[d];  // scratch: covector of h v+
  for (size_t i = 0; i < turning_.size(); ++i) {
    const int d = turning_[i];
    const Vec3 turn = load3(x_bar.data() + d);
    store3(q_bar.data() + d, transpose_times(turn_by_q_[i], turn));
    store3(scratch_.data() + d, transpose_times(turn_by_v_[i], turn));
  }
  for (int d = 0; d < nv_; ++d) v_next_bar[d] = x_bar[nv_ + d] + h_ * scratch_[d];
  const double h_bar =
      next_activations_adjoint(*model_, step_->activation, step_->control, h_, x_bar.segment(2 * nv_, na_),
                               z_bar.segment(in.activation, na_), z_bar.segment(in.control, nu_));
  if (parameters) z_bar[in.theta + model_->structure().timestep] += h_bar + scratch_.dot(*v_next_);
}

// Rows of q+ from those of v+: h Jr (v+ rows).
void StepOutput::position_rows(MatrixRef J) const {
  for (Eigen::Index c = 0; c < J.cols(); ++c) {
    double* __restrict q = J.data() + c * J.outerStride();
    const double* __restrict v = q + nv_;
    for (int d = 0; d < nv_; ++d) q[d] = h_ * v[d];
  }
  turn_rows(J);
}

void StepOutput::turn_rows(MatrixRef J) const {
  for (size_t i = 0; i < turning_.size(); ++i) {
    for (Eigen::Index c = 0; c < J.cols(); ++c) {
      double* turn = &J(turning_[i], c);
      store3(turn, turn_by_v_[i] * load3(turn));
    }
  }
}

void StepOutput::complete(MatrixRef by_state, MatrixRef by_control) const {
  position_rows(by_state);
  position_rows(by_control);
  add_explicit(by_state, by_control);
}

// What q+ and w+ are of q, w and u themselves.
void StepOutput::add_explicit(MatrixRef by_state, MatrixRef by_control) const {
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
  if (na_ == 0) return;
  by_state.bottomRows(na_).setZero();
  by_control.bottomRows(na_).setZero();
  const Structure& s = model_->structure();
  for (int i = 0; i < nu_; ++i) {
    const int w = s.actuators[i].activation;
    if (w < 0) continue;
    const ActivationStep step =
        activation_step(model_->description().actuators[i], step_->activation[w], step_->control[i], h_);
    by_state(2 * nv_ + w, 2 * nv_ + w) = step.by_activation;
    if (by_control.cols() > 0) by_control(2 * nv_ + w, i) = step.by_control;
  }
}

}  // namespace articula
