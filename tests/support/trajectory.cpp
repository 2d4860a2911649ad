#include "trajectory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace articula::testing {

Trajectory::Trajectory(const Model& model, State start, Stepper stepper, double dt)
    : model_(model),
      data_(model),
      work_(model),
      rk_work_(model),
      state_(std::move(start)),
      stepper_(stepper),
      dt_(dt),
      no_force_(VectorX::Zero(model.nv())) {}

void Trajectory::advance(int count) {
  const StepSettings settings{.dt = dt_, .implicit_gyroscopic = stepper_ == Stepper::semi_implicit};
  for (int i = 0; i < count; ++i) {
    const StepStatus status = stepper_ == Stepper::runge_kutta
                                  ? runge_kutta_step(model_, data_, rk_work_, dt_, no_force_, state_)
                                  : contact_free_step(model_, data_, work_, settings, {}, state_);
    ASSERT_EQ(status, StepStatus::ok) << to_string(status) << " at " << state_.time << " s";
  }
}

void Trajectory::prepare() {
  forward_kinematics(model_, data_, state_.q);
  place_inertias(model_, data_);
  propagate_motion(model_, data_, state_.v.data(), nullptr);
}

Energy Trajectory::energy_now() {
  prepare();
  return energy(model_, data_, state_.q, state_.v);
}

Vector6 Trajectory::momentum_now() {
  prepare();
  return momentum(model_, data_);
}

Description single_body(JointType type, double mass, const Vector3& box) {
  const Vector3 squares = box.cwiseAbs2();
  BodyDescription body;
  body.name = "body";
  body.joints = {JointDescription{.name = "joint", .type = type}};
  body.inertia.mass = mass;
  body.inertia.inertia = (mass / 12.0 * (Vector3::Constant(squares.sum()) - squares)).asDiagonal();
  Description d;
  d.bodies.push_back(std::move(body));
  return d;
}

double observed_order(double error, double error_of_half_step) {
  return std::log2(error / error_of_half_step);
}

}  // namespace articula::testing
