#include "tests/support/disturbed_step.hpp"

#include <gtest/gtest.h>

#include <random>

#include "articula/derivatives/differences.hpp"
#include "articula/kinematics/manifold.hpp"

namespace articula::testing {

DisturbedStep::DisturbedStep(Scene& scene)
    : scene_(scene),
      data_(scene.model),
      work_(scene.model),
      next_(scene.state),
      derivatives_(scene.model) {
  WarmStart cold;
  const StepReport report = impulse_step(scene.model, data_, work_, scene.settings, scene.input, next_, cold);
  EXPECT_EQ(report.status, StepStatus::ok);
  EXPECT_TRUE(derivatives_.prepare(scene.model, data_, work_, scene.settings));
  frozen_ = freeze(work_);
}

VectorX DisturbedStep::along(const VectorX& dz) {
  VectorX w(derivatives_.unknowns()), dx(outputs());
  push_forward(derivatives_, dz, w, dx);
  return dx;
}

VectorX DisturbedStep::against(const VectorX& x_bar) {
  VectorX w(derivatives_.unknowns()), z_bar(layout().size);
  pull_back(derivatives_, x_bar, w, z_bar);
  return z_bar;
}

void DisturbedStep::jacobians(MatrixX& by_state, MatrixX& by_control) {
  by_state.resize(outputs(), outputs());
  by_control.resize(outputs(), scene_.model.nu());
  derivatives_.jacobians(by_state, by_control);
}

VectorX DisturbedStep::disturbed(const VectorX& dz, double t) {
  const StepInputs& at = layout();
  const Model& model = scene_.model;
  const int nv = model.nv(), timestep = model.structure().timestep;
  VectorX theta = model.theta() + t * dz.tail(model.theta().size());
  theta[timestep] = model.theta()[timestep];
  const Model variant = model.with(theta);
  Data data(variant);
  ImpulseWork work(variant);
  State state = scene_.state;
  integrate(model, scene_.state.q, dz.segment(at.q, nv), t, state.q);
  state.v += t * dz.segment(at.v, nv);
  state.activation += t * dz.segment(at.activation, model.na());
  Input input = scene_.input;
  input.controls += t * dz.segment(at.control, model.nu());
  input.forces += t * dz.segment(at.force, nv);
  ImpulseSettings settings = scene_.settings;
  settings.dt += t * dz[at.theta + timestep];
  settings.frozen = &frozen_;
  WarmStart cold;
  EXPECT_EQ(impulse_step(variant, data, work, settings, input, state, cold).status, StepStatus::ok);
  VectorX moved(nv), x(outputs());
  difference(model, next_.q, state.q, moved);
  x << moved, state.v, state.activation;
  return x;
}

VectorX DisturbedStep::difference_along(const VectorX& dz) {
  return ridders_differences([&](double t) { return disturbed(dz, t); }, {1e-3, 1e-4, 1e-5}).derivative;
}

VectorX parameter_direction(const Model& model, const StepInputs& layout, ParameterKind kind,
                            std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  VectorX dz = VectorX::Zero(layout.size);
  // Placements at zero move as well as others.
  const double least = kind == ParameterKind::placement ? 0.1 : 0.0;
  for (const ParameterSlice& slice : model.parameters().of_kind(kind)) {
    for (int i = slice.offset; i < slice.offset + slice.size; ++i)
      dz[layout.theta + i] = 0.1 * std::max(std::abs(model.theta()[i]), least) * number(random);
  }
  return dz;
}

}  // namespace articula::testing
