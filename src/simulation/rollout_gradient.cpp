#include "articula/simulation/rollout_gradient.hpp"

#include <cmath>

#include "articula/error.hpp"
#include "articula/model/sizes.hpp"
#include "differentiator.hpp"

namespace articula {

namespace {

// A state and the modes of the step from it.
struct Checkpoint {
  State state;
  WarmStart warm;
};

double bytes_of(const Checkpoint& point) {
  const auto numbers =
      static_cast<double>(point.state.q.size() + point.state.v.size() + point.state.activation.size());
  return 8.0 * numbers + static_cast<double>(sizeof(WarmStart::Entry) * point.warm.entries.size());
}

class Backward {
 public:
  Backward(const Simulation& simulation, const ConstMatrixRef& controls, const Loss& loss,
           const RolloutGradientSettings& settings)
      : model_(simulation.model()),
        controls_(controls),
        loss_(loss),
        settings_(settings),
        steps_(static_cast<int>(controls.cols())),
        workspace_(simulation) {
    const int nv = model_.nv(), na = model_.na();
    covector_ = {VectorX::Zero(nv), VectorX::Zero(nv), VectorX::Zero(na), VectorX::Zero(model_.nu())};
    adjoint_ = {VectorX::Zero(nv), VectorX::Zero(nv), VectorX::Zero(na)};
  }

  RolloutGradient run(const State& start) {
    forward(start);
    result_.controls.setZero(model_.nu(), steps_);
    Eigen::Index parameters = 0;
    for (const ParameterSlice& slice : settings_.gradient.parameters) parameters += slice.size;
    result_.parameters.setZero(parameters);
    add_loss(steps_, last_);
    after_ = last_;
    for (int end = steps_; end > 0;) {
      const int begin = (end - 1) / stride_ * stride_;
      recompute(begin, end);
      for (int i = end - 1; i >= begin; --i) {
        const bool first = i == begin && stride_ > 1;
        const Checkpoint& point = stride_ == 1 ? checkpoints_[i] : stretch_[i - begin];
        const WarmStart& guess = i == 0         ? cold_
                                 : stride_ == 1 ? checkpoints_[i - 1].warm
                                 : first        ? checkpoints_[begin / stride_].warm
                                                : stretch_[i - begin - 1].warm;
        step_back(i, point, guess);
      }
      end = begin;
    }
    result_.q = adjoint_.q;
    result_.v = adjoint_.v;
    result_.activation = adjoint_.activation;
    return std::move(result_);
  }

 private:
  void take(int i, const State& from) {
    step_.input.controls = controls_.col(i);
    workspace_->step(from, step_.input, step_);
    if (!step_.ok()) throw Error("step {} failed: {}", i, to_string(step_.status()));
  }

  int choose_stride(const State& start) const {
    if (settings_.stride > 0) return settings_.stride;
    const auto numbers = static_cast<double>(start.q.size() + start.v.size() + start.activation.size());
    const double each =
        8.0 * numbers + static_cast<double>(sizeof(WarmStart::Entry)) *
                            (workspace_->contact ? workspace_->contact->rows.most_blocks() : 0);
    if (each * steps_ <= settings_.most_bytes) return 1;
    return std::max(1, static_cast<int>(std::sqrt(static_cast<double>(steps_))));
  }

  // The warm start of a checkpoint is what the step before left; kept, the stretch is found again to the bit.
  void forward(const State& start) {
    stride_ = choose_stride(start);
    step_.next = start;
    step_.warm.entries.clear();
    checkpoints_.clear();
    const int kept = steps_ / stride_ + 1;
    checkpoints_.reserve(kept);
    result_.rollout.reports.reserve(steps_);
    result_.rollout.q.resize(model_.nq(), kept);
    result_.rollout.v.resize(model_.nv(), kept);
    result_.rollout.activation.resize(model_.na(), kept);
    result_.rollout.time.resize(kept);
    for (int i = 0; i < steps_; ++i) {
      const bool keep = i % stride_ == 0;
      if (keep) checkpoints_.push_back({step_.next, stride_ == 1 ? WarmStart{} : step_.warm});
      take(i, step_.next);
      result_.rollout.reports.push_back(step_.report);
      if (stride_ == 1) checkpoints_.back().warm = step_.warm;  // its own modes
      if (keep) result_.bytes += bytes_of(checkpoints_.back());
    }
    last_ = step_.next;
    for (int k = 0; k < kept; ++k) {
      const State& state = k < static_cast<int>(checkpoints_.size()) ? checkpoints_[k].state : last_;
      result_.rollout.q.col(k) = state.q;
      result_.rollout.v.col(k) = state.v;
      result_.rollout.activation.col(k) = state.activation;
      result_.rollout.time[k] = state.time;
    }
    result_.rollout.warm = step_.warm;
  }

  // States and modes of steps [begin, end).
  void recompute(int begin, int end) {
    if (stride_ == 1) return;  // all of them are kept
    const Checkpoint& from = checkpoints_[begin / stride_];
    stretch_.resize(end - begin);
    step_.next = from.state;
    step_.warm = from.warm;
    for (int i = begin; i < end; ++i) {
      stretch_[i - begin].state = step_.next;
      take(i, step_.next);
      stretch_[i - begin].warm = step_.warm;
    }
  }

  void add_loss(int i, const State& state) {
    covector_.q.setZero();
    covector_.v.setZero();
    covector_.activation.setZero();
    covector_.control.setZero();
    const VectorX none;
    result_.loss +=
        i < steps_ ? loss_(i, state, controls_.col(i), covector_) : loss_(i, state, none, covector_);
    adjoint_.q += covector_.q;
    adjoint_.v += covector_.v;
    adjoint_.activation += covector_.activation;
    if (i < steps_) result_.controls.col(i) += covector_.control;
  }

  // `guess`: what the step began with, the modes of the one before.
  void step_back(int i, const Checkpoint& point, const WarmStart& guess) {
    step_.input.controls = controls_.col(i);
    workspace_->step_again(point.state, step_.input, point.warm, guess, after_, step_);
    if (!step_.ok()) throw Error("step {} failed: {}", i, to_string(step_.status()));
    after_ = point.state;
    StepDifferentiator& differentiator = workspace_->differentiator();
    differentiator.pullback(*workspace_, point.state, step_.input, adjoint_, settings_.gradient, gradient_);
    result_.invalid += !gradient_.certificate.valid;
    result_.one_sided += gradient_.certificate.one_sided;
    adjoint_.q = gradient_.q;
    adjoint_.v = gradient_.v;
    adjoint_.activation = gradient_.activation;
    result_.controls.col(i) += gradient_.control;
    result_.parameters += gradient_.parameters;
    add_loss(i, point.state);
  }

  const Model& model_;
  const ConstMatrixRef& controls_;
  const Loss& loss_;
  const RolloutGradientSettings& settings_;
  int steps_, stride_ = 1;
  Simulation::Lease workspace_;
  Step step_;
  State last_, after_;  // after_: the step that is gone back over
  const WarmStart cold_;
  std::vector<Checkpoint> checkpoints_, stretch_;
  LossCovector covector_;
  StepCovector adjoint_;
  StepGradient gradient_;
  RolloutGradient result_;
};

}  // namespace

RolloutGradient rollout_gradient(const Simulation& simulation, const State& start,
                                 const ConstMatrixRef& controls, const Loss& loss,
                                 const RolloutGradientSettings& settings) {
  require_size("a column of controls", controls.rows(), simulation.model().nu());
  if (settings.stride < 0) throw Error("stride must not be negative, as {} is", settings.stride);
  if (!(settings.most_bytes >= 0.0)) throw Error("most_bytes must not be {}", settings.most_bytes);
  return Backward(simulation, controls, loss, settings).run(start);
}

MatrixX rollout_sensitivity(const Simulation& simulation, const State& start, const ConstMatrixRef& controls,
                            const std::vector<ParameterSlice>& parameters) {
  const Model& model = simulation.model();
  require_size("a column of controls", controls.rows(), model.nu());
  const StepInputs layout(model);
  std::vector<int> theta;
  for (const ParameterSlice& slice : parameters) {
    for (int i = 0; i < slice.size; ++i) theta.push_back(layout.theta + slice.offset + i);
  }
  const int n = 2 * model.nv() + model.na();
  MatrixX dx = MatrixX::Zero(n, static_cast<Eigen::Index>(theta.size()));
  VectorX dz(layout.size), column(n);
  const Simulation::Lease workspace(simulation);
  Step step;
  step.next = start;
  for (Eigen::Index i = 0; i < controls.cols(); ++i) {
    step.input.controls = controls.col(i);
    workspace->step(step.next, step.input, step);
    if (!step.ok()) throw Error("step {} failed: {}", i, to_string(step.status()));
    for (size_t k = 0; k < theta.size(); ++k) {
      dz.setZero();
      dz.head(n) = dx.col(static_cast<Eigen::Index>(k));  // StepInputs begins with q, v, activations
      dz[theta[k]] = 1.0;
      workspace->differentiator().along(*workspace, dz, column);
      dx.col(static_cast<Eigen::Index>(k)) = column;
    }
  }
  return dx;
}

}  // namespace articula
