// Second derivatives: the adjoint is exact for given modes, so that its differences at frozen modes are
// Hessians of a smooth function, the loss over steps that keep their modes.

#include "articula/derivatives/impulse.hpp"
#include "articula/error.hpp"
#include "articula/model/sizes.hpp"
#include "articula/simulation/rollout_gradient.hpp"

namespace articula {

namespace {

class FrozenRollout {
 public:
  FrozenRollout(const Simulation& simulation, const State& start, const ConstMatrixRef& controls)
      : model_(simulation.model()),
        settings_(impulse_settings(simulation.settings())),
        start_(start),
        data_(model_),
        work_(model_, simulation.settings().most_contacts),
        derivatives_(model_) {
    derivatives_.want_parameters(false);
    State state = start;
    WarmStart warm;
    for (Eigen::Index i = 0; i < controls.cols(); ++i) {
      step(controls.col(i), state, warm);
      modes_.push_back(freeze(work_));
    }
  }

  // Gradient of the loss by the controls, the modes of the first rollout held.
  MatrixX gradient(const MatrixX& controls, const Loss& loss) {
    const int nv = model_.nv(), na = model_.na(), steps = static_cast<int>(controls.cols());
    const StepInputs& at = derivatives_.layout();
    std::vector<State> path{start_};
    WarmStart unused;
    for (int i = 0; i < steps; ++i) {
      settings_.frozen = &modes_[i];
      path.push_back(path.back());
      step(controls.col(i), path.back(), unused);
    }
    LossCovector covector;
    const auto add = [&](int i, VectorX& x_bar) {
      covector = {VectorX::Zero(nv), VectorX::Zero(nv), VectorX::Zero(na), VectorX::Zero(model_.nu())};
      const VectorX control = i < steps ? VectorX(controls.col(i)) : VectorX();
      loss(i, path[i], control, covector);
      x_bar.segment(0, nv) += covector.q;
      x_bar.segment(nv, nv) += covector.v;
      x_bar.tail(na) += covector.activation;
    };
    MatrixX result(model_.nu(), steps);
    VectorX x_bar = VectorX::Zero(2 * nv + na), z_bar = VectorX::Zero(at.size), w;
    add(steps, x_bar);
    for (int i = steps - 1; i >= 0; --i) {
      settings_.frozen = &modes_[i];
      State state = path[i];
      step(controls.col(i), state, unused);
      if (!derivatives_.prepare(model_, data_, work_, settings_)) throw Error("step {} has no derivative", i);
      w.resize(derivatives_.unknowns());
      pull_back(derivatives_, x_bar, w, z_bar);
      x_bar = z_bar.head(2 * nv + na);  // StepInputs begins with q, v, activations
      add(i, x_bar);
      result.col(i) = z_bar.segment(at.control, model_.nu()) + covector.control;
    }
    return result;
  }

 private:
  void step(const ConstVectorRef& control, State& state, WarmStart& warm) {
    input_.controls = control;
    const StepReport report = impulse_step(model_, data_, work_, settings_, input_, state, warm);
    if (report.status != StepStatus::ok) throw Error("a step failed: {}", to_string(report.status));
  }

  const Model& model_;
  ImpulseSettings settings_;
  State start_;
  Data data_;
  ImpulseWork work_;
  ImpulseDerivatives derivatives_;
  Input input_;
  std::vector<FrozenModes> modes_;
};

}  // namespace

MatrixX hessian_vector_product(const Simulation& simulation, const State& start,
                               const ConstMatrixRef& controls, const ConstMatrixRef& direction,
                               const Loss& loss, double difference_step) {
  require_size("a column of controls", controls.rows(), simulation.model().nu());
  require_size("rows of the direction", direction.rows(), controls.rows());
  require_size("columns of the direction", direction.cols(), controls.cols());
  if (!(difference_step > 0.0)) throw Error("difference_step must be positive, not {}", difference_step);
  if (simulation.settings().contact == Contact::none) {
    const auto gradient = [&](double t) {
      return rollout_gradient(simulation, start, controls + t * direction, loss).controls;
    };
    return (gradient(difference_step) - gradient(-difference_step)) / (2.0 * difference_step);
  }
  FrozenRollout frozen(simulation, start, controls);
  const MatrixX ahead = frozen.gradient(controls + difference_step * direction, loss);
  const MatrixX behind = frozen.gradient(controls - difference_step * direction, loss);
  return (ahead - behind) / (2.0 * difference_step);
}

}  // namespace articula
