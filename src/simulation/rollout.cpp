#include "articula/simulation/rollout.hpp"

#include "articula/error.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

void keep(Rollout& result, int column, const State& state) {
  result.q.col(column) = state.q;
  result.v.col(column) = state.v;
  result.activation.col(column) = state.activation;
  result.time[column] = state.time;
}

void size(Rollout& result, const Model& model, int steps) {
  result.q.conservativeResize(model.nq(), steps + 1);
  result.v.conservativeResize(model.nv(), steps + 1);
  result.activation.conservativeResize(model.na(), steps + 1);
  result.time.conservativeResize(steps + 1);
}

}  // namespace

Rollout rollout(const Simulation& simulation, const State& start, int steps, const Controller& control,
                const WarmStart& warm) {
  if (steps < 0) throw Error("the number of steps must not be negative, as {} is", steps);
  const Model& model = simulation.model();
  require_size("q", start.q.size(), model.nq());
  require_size("v", start.v.size(), model.nv());
  require_size("activation", start.activation.size(), model.na());
  Rollout result;
  size(result, model, steps);
  result.reports.reserve(steps);
  keep(result, 0, start);
  Step step;
  step.next = start;
  step.warm = warm;
  step.input.controls = VectorX::Zero(model.nu());
  const Simulation::Lease workspace(simulation);
  for (int i = 0; i < steps; ++i) {
    control(i, step.next, step.input);
    workspace->step(step.next, step.input, step);
    result.reports.push_back(step.report);
    if (!step.ok()) {
      size(result, model, i);
      break;
    }
    keep(result, i + 1, step.next);
  }
  result.warm = std::move(step.warm);
  return result;
}

Rollout rollout(const Simulation& simulation, const State& start, const ConstMatrixRef& controls,
                const WarmStart& warm) {
  require_size("a column of controls", controls.rows(), simulation.model().nu());
  const auto control = [&](int i, const State&, Input& input) { input.controls = controls.col(i); };
  return rollout(simulation, start, static_cast<int>(controls.cols()), control, warm);
}

}  // namespace articula
