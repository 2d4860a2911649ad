#include "batch_threads.hpp"
#include "differentiator.hpp"

namespace articula {

namespace {

// Takes the step of environment e once more. False if it failed.
bool take_again(BatchWorker& worker, const BatchState& x, const ConstMatrixRef& controls,
                const BatchStep& step, int e) {
  if (step.reports[e].status != StepStatus::ok) return false;
  load(x, e, worker.start);
  if (controls.cols() > 0)
    worker.step.input.controls = controls.col(e);
  else
    worker.step.input.controls.resize(0);
  load(step.next, e, worker.end);
  worker.workspace.step_again(worker.start, worker.step.input, step.warm[e], {}, worker.end, worker.step);
  return worker.step.ok();
}

void require_step(const Model& model, const BatchState& x, const ConstMatrixRef& controls,
                  const BatchStep& step, int count) {
  require_states(model, x, count);
  if (controls.cols() > 0) require_shape("controls", controls, model.nu(), count);
  require_size("reports of the step", static_cast<long>(step.reports.size()), count);
  require_size("warm of the step", static_cast<long>(step.warm.size()), count);
}

}  // namespace

void Batch::jacobians(const BatchState& x, const ConstMatrixRef& controls, const BatchStep& step,
                      const GradientSettings& settings, BatchJacobians& result) const {
  const Model& model = threads_->models.front();
  require_step(model, x, controls, step, size());
  const int n = 2 * model.nv() + model.na();
  result.by_state.resize(static_cast<Eigen::Index>(n) * size(), n);
  result.by_control.resize(static_cast<Eigen::Index>(n) * size(), model.nu());
  result.certificates.resize(size());
  threads_->for_each([&](BatchWorker& worker, int e) {
    auto by_state = result.by_state.middleRows(static_cast<Eigen::Index>(e) * n, n);
    auto by_control = result.by_control.middleRows(static_cast<Eigen::Index>(e) * n, n);
    if (!take_again(worker, x, controls, step, e)) {
      by_state.setZero();
      by_control.setZero();
      result.certificates[e] = {.valid = false};
      return;
    }
    worker.workspace.differentiator().jacobians(worker.workspace, worker.start, worker.step.input, settings,
                                                worker.jacobians);
    by_state = worker.jacobians.by_state;
    by_control = worker.jacobians.by_control;
    result.certificates[e] = worker.jacobians.certificate;
  });
}

void Batch::pullback(const BatchState& x, const ConstMatrixRef& controls, const BatchStep& step,
                     const BatchCovector& covector, const GradientSettings& settings,
                     BatchGradient& result) const {
  const Model& model = threads_->models.front();
  require_step(model, x, controls, step, size());
  if (covector.q.size() > 0) require_shape("the covector of q", covector.q, model.nv(), size());
  if (covector.v.size() > 0) require_shape("the covector of v", covector.v, model.nv(), size());
  if (covector.activation.size() > 0)
    require_shape("the covector of activation", covector.activation, model.na(), size());
  Eigen::Index parameters = 0;
  for (const ParameterSlice& slice : settings.parameters) parameters += slice.size;
  const auto room = [&](MatrixX& part, Eigen::Index rows) { part.setZero(rows, size()); };
  room(result.q, model.nv());
  room(result.v, model.nv());
  room(result.activation, model.na());
  room(result.control, model.nu());
  room(result.force, model.nv());
  room(result.wrench, 6 * static_cast<Eigen::Index>(model.nbody()));
  room(result.parameters, parameters);
  result.certificates.resize(size());
  threads_->for_each([&](BatchWorker& worker, int e) {
    if (!take_again(worker, x, controls, step, e)) {
      result.certificates[e] = {.valid = false};
      return;
    }
    const auto part = [&](const MatrixX& from, VectorX& to) {
      to.resize(from.rows());
      if (from.cols() > 0) to = from.col(e);
    };
    part(covector.q, worker.covector.q);
    part(covector.v, worker.covector.v);
    part(covector.activation, worker.covector.activation);
    StepGradient& gradient = worker.gradient;
    worker.workspace.differentiator().pullback(worker.workspace, worker.start, worker.step.input,
                                               worker.covector, settings, gradient);
    result.q.col(e) = gradient.q;
    result.v.col(e) = gradient.v;
    result.activation.col(e) = gradient.activation;
    result.control.col(e) = gradient.control;
    result.force.col(e) = gradient.force;
    result.wrench.col(e) = gradient.wrench.reshaped();
    result.parameters.col(e) = gradient.parameters;
    result.certificates[e] = gradient.certificate;
  });
}

}  // namespace articula
