#include "articula/derivatives/smooth_residual.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/kinematics/motion.hpp"
#include "articula/math/strips.hpp"
#include "articula/model/sizes.hpp"
#include "dynamics/rnea_couplings.hpp"

namespace articula {

StepInputs::StepInputs(const Model& model)
    : v(model.nv()),
      activation(2 * model.nv()),
      control(activation + model.na()),
      force(control + model.nu()),
      wrench(force + model.nv()),
      theta(wrench + 6 * model.nbody()),
      size(theta + static_cast<int>(model.theta().size())) {}

SmoothResidual::SmoothResidual(const Model& model)
    : inputs_(model),
      rnea_(model),
      parameters_(model),
      forces_(model),
      acceleration_(model.nv()),
      step_rate_(model.nv()),
      scratch_(model.nv()),
      scratch2_(model.nv()),
      tau_(model.nv()),
      slope_(model.nv()),
      subtree_(model.nlink()) {}

void SmoothResidual::prepare(const Model& model, Data& data, const FreeMotionWork& step,
                             const StepSettings& settings, const ConstVectorRef& acceleration) {
  require_size("acceleration", acceleration.size(), model.nv());
  model_ = &model;
  data_ = &data;
  step_ = &step;
  h_ = settings.dt;
  options_ = {step.external(), settings.implicit_gyroscopic ? settings.dt : 0.0};
  parameters_ready_ = couplings_ready_ = false;
  acceleration_ = acceleration;
  // The step saw the forces at zero acceleration; the derivatives need those of the motion.
  sweep_rnea_rates(model, data, rnea_, step.v.data(), acceleration_.data(), options_);
  hold_wrenches(model, forces_, false);
}

void SmoothResidual::hold_forces() { hold_wrenches(*model_, forces_, true); }

void SmoothResidual::prepare_couplings() {
  if (couplings_ready_) return;
  couplings_ready_ = true;
  prepare_rnea_couplings(*model_, *data_, rnea_);
}

ForceArguments SmoothResidual::arguments() const {
  return {step_->q.data(), step_->v.data(), step_->activation.data(), step_->control.data(), h_};
}

// What only derivatives with respect to theta need; among it the torque of freely turning bodies, which
// depends on h itself.
void SmoothResidual::prepare_parameters() {
  if (parameters_ready_) return;
  parameters_ready_ = true;
  motion_rates(*model_, *data_, step_->v.data(), acceleration_.data());
  prepare_parameter_derivatives(*model_, *data_, parameters_, step_->q, options_);
  step_rate_.setZero();
  if (options_.gyroscopic_step <= 0.0) return;
  const Structure& s = model_->structure();
  for (int k = 1; k < model_->nlink(); ++k) {
    subtree_[k] = {};
    if (!turns_freely(s, s.links[k])) continue;
    subtree_[k].moment = gyroscopic_step_change(inertia_about_com(data_->local_inertia[k]),
                                                data_->link_v[k].angular, options_.gyroscopic_step);
  }
  for (int k = model_->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) step_rate_[d] = dot(data_->S[d], subtree_[k]);
    if (!link.root) subtree_[link.parent] += subtree_[k];
  }
}

// dr -= J^T dwrench
void SmoothResidual::add_wrenches_along(const double* dwrench, VectorRef dr) {
  const Structure& s = model_->structure();
  const Eigen::Map<const ExternalWrenches> change(dwrench, 6, model_->nbody());
  if (change.isZero(0.0)) return;
  for (int k = 1; k < model_->nlink(); ++k) {
    subtree_[k] = {};
    for (int b : s.links[k].bodies) {
      const Vec3 force = load3(dwrench + 6 * b);
      const Vec3 at = data_->link_r[k] + data_->link_R[k] * model_->constants().body_com[b];
      subtree_[k] += Force{load3(dwrench + 6 * b + 3) + cross(at, force), force};
    }
  }
  for (int k = model_->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) dr[d] -= dot(data_->S[d], subtree_[k]);
    if (!link.root) subtree_[link.parent] += subtree_[k];
  }
}

void SmoothResidual::along(const ConstVectorRef& dz, VectorRef dr) {
  require_size("dz", dz.size(), inputs_.size);
  const int nv = model_->nv();
  const auto dq = dz.segment(inputs_.q, nv), dv = dz.segment(inputs_.v, nv);
  const auto dtheta = dz.tail(inputs_.size - inputs_.theta);
  const bool changes = !dtheta.isZero(0.0);
  const double dh = dtheta[model_->structure().timestep];
  if (changes) prepare_parameters();
  prepare_couplings();
  scratch_.setZero();
  rnea_directional(*model_, *data_, rnea_, options_.external != nullptr, dq, dv, scratch_, dr);
  ForceDirection direction{dz.data() + inputs_.q, dz.data() + inputs_.v, dz.data() + inputs_.activation,
                           dz.data() + inputs_.control, dh};
  if (changes) direction.theta = dtheta.data();
  forces_directional(*model_, *data_, step_->forces, forces_, arguments(), &parameters_, direction, tau_,
                     slope_);
  dr += h_ * slope_.cwiseProduct(acceleration_) - tau_ - dz.segment(inputs_.force, nv);
  add_wrenches_along(dz.data() + inputs_.wrench, dr);
  if (!changes) return;
  rnea_parameter_directional(*model_, *data_, parameters_, acceleration_, options_, dtheta, scratch_);
  dr += scratch_;
  dr += dh * (step_->forces.slope.cwiseProduct(acceleration_) + step_rate_);
}

void SmoothResidual::against(const ConstVectorRef& y, VectorRef z_bar, bool parameters, bool held) {
  require_size("y", y.size(), model_->nv());
  require_size("z_bar", z_bar.size(), inputs_.size);
  const Structure& s = model_->structure();
  if (parameters) prepare_parameters();
  rnea_adjoint(*model_, *data_, rnea_, options_.external != nullptr, y, scratch_, scratch2_);
  double *q_bar = z_bar.data() + inputs_.q, *v_bar = z_bar.data() + inputs_.v,
         *force_bar = z_bar.data() + inputs_.force;
  for (int d = 0; d < s.nv; ++d) {
    q_bar[d] -= scratch_[d];
    v_bar[d] -= scratch2_[d];
    force_bar[d] += y[d];
    slope_[d] = -h_ * y[d] * acceleration_[d];
  }
  // rnea_adjoint leaves the sums of S y along paths, the twist of every link.
  const Vec3* com = model_->constants().body_com.data();
  double* wrench_bar = z_bar.data() + inputs_.wrench;
  for (int k = 1; k < model_->nlink(); ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) continue;
    const Motion Y = rnea_.path_motion[k];
    const Mat3 R = data_->link_R[k];
    const Vec3 r = data_->link_r[k];
    for (int b : link.bodies) {
      // Fourth lanes are zero, and there is a number behind the last wrench: the first of theta.
      double* bar = wrench_bar + 6 * b;
      store_lanes(bar, load_lanes(bar) + point_velocity(Y, r + R * com[b]).lanes);
      store_lanes(bar + 3, load_lanes(bar + 3) + Y.angular.lanes);
    }
  }
  auto theta_bar = z_bar.tail(inputs_.size - inputs_.theta);
  ForceGradient to{z_bar.data() + inputs_.q,
                   z_bar.data() + inputs_.v,
                   z_bar.data() + inputs_.activation,
                   z_bar.data() + inputs_.control,
                   0.0,
                   parameters ? theta_bar.data() : nullptr};
  const bool holds = forces_.held.active;
  forces_.held.active = holds && held;
  forces_adjoint(*model_, *data_, step_->forces, forces_, arguments(), &parameters_, y, slope_, to);
  forces_.held.active = holds;
  if (!parameters) return;
  scratch_ = -y;
  rnea_parameter_adjoint(*model_, *data_, parameters_, acceleration_, options_, scratch_, theta_bar);
  theta_bar[s.timestep] += to.dt - y.dot(step_->forces.slope.cwiseProduct(acceleration_) + step_rate_);
}

void SmoothResidual::slopes_against(const ConstVectorRef& weights, VectorRef z_bar) {
  ForceGradient to{z_bar.data() + inputs_.q,
                   z_bar.data() + inputs_.v,
                   z_bar.data() + inputs_.activation,
                   z_bar.data() + inputs_.control,
                   0.0,
                   nullptr};
  const bool holds = forces_.held.active;
  forces_.held.active = false;
  scratch_.setZero();
  forces_adjoint(*model_, *data_, step_->forces, forces_, arguments(), &parameters_, scratch_, weights, to);
  forces_.held.active = holds;
}

void SmoothResidual::jacobians(double sign, StridedMatrices out, PosedWrenches* posed) {
  const bool has_external = options_.external != nullptr;
  prepare_couplings();
  prepare_rnea_columns(*model_, *data_, rnea_, has_external, posed);
  assemble_rnea_derivatives(*model_, *data_, rnea_, sign, out);
  const bool holds = forces_.held.active;
  forces_.held.active = holds && posed == nullptr;
  add_force_jacobians(*model_, *data_, step_->forces, forces_, arguments(), -sign, out);
  forces_.held.active = holds;
}

void SmoothResidual::input_jacobians(double sign, RowMatrixRef by_activation, RowMatrixRef by_control) {
  scratch_ = h_ * acceleration_;
  add_force_input_jacobians(*model_, *data_, step_->forces, forces_, arguments(), scratch_, -sign, by_control,
                            by_activation);
}

}  // namespace articula
