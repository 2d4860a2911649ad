// Bodies that turn freely: what Euler's equations conserve, and the gyroscopic torque taken implicitly.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/trajectory.hpp"

namespace articula::testing::rotation_test {
namespace {

// Without gravity; a ball joint through the centre of mass, or a free body.
Model spinning_box(JointType joint) {
  Description d = single_body(joint, 4.0, {0.1, 0.2, 0.4});
  d.gravity.setZero();
  return build(d);
}

State spun(const Model& model, const Vector3& w) {
  State state = neutral_state(model);
  state.v.tail<3>() = w;
  return state;
}

struct Drift {
  double energy, momentum;  // relative, the worst over a second
};

Drift drift_over_a_second(const Model& model, const Vector3& w, Stepper stepper, double dt) {
  Trajectory spin(model, spun(model, w), stepper, dt);
  const double energy = spin.energy_now().kinetic;
  const Vector3 momentum = spin.momentum_now().tail<3>();
  Drift worst{0, 0};
  for (int i = 0; i < std::lround(1.0 / dt); ++i) {
    spin.advance();
    worst.energy = std::max(worst.energy, std::abs(spin.energy_now().kinetic - energy) / energy);
    worst.momentum =
        std::max(worst.momentum, (spin.momentum_now().tail<3>() - momentum).norm() / momentum.norm());
  }
  return worst;
}

const Vector3 tumbling(1.0, 3.0, 2.0);

TEST(torque_free_rotation, keeps_energy_and_angular_momentum_to_the_integrator_s_order) {
  for (const JointType joint : {JointType::ball, JointType::free}) {
    const Model model = spinning_box(joint);
    for (const auto& [stepper, order] : {std::pair{Stepper::runge_kutta, 4.0},
                                         {Stepper::semi_implicit, 1.0},
                                         {Stepper::explicit_gyroscopic, 1.0}}) {
      const double dt = order > 1.0 ? 0.02 : 0.001;
      const Drift coarse = drift_over_a_second(model, tumbling, stepper, dt);
      const Drift half = drift_over_a_second(model, tumbling, stepper, dt / 2);
      EXPECT_LT(coarse.energy, order > 1.0 ? 1e-5 : 0.02);
      EXPECT_LT(coarse.momentum, order > 1.0 ? 1e-5 : 0.02);
      EXPECT_GT(observed_order(coarse.energy, half.energy), order - 0.2);
      EXPECT_GT(observed_order(coarse.momentum, half.momentum), order - 0.2);
    }
  }
}

// Spin about the axis of the least or greatest moment is stable and exact; about the middle one it turns
// over.
TEST(torque_free_rotation, about_the_middle_axis_turns_over) {
  const Model model = spinning_box(JointType::ball);
  const auto lowest_share = [&](int axis) {  // of the spin along its first axis
    Trajectory spin(model, spun(model, 10.0 * Vector3::Unit(axis) + Vector3(0.01, 0.01, 0.01)),
                    Stepper::runge_kutta, 0.001);
    double least = 1.0;
    for (int i = 0; i < 3000; ++i) {
      spin.advance();
      least = std::min(least, spin.state().v[axis] / spin.state().v.norm());
    }
    return least;
  };
  EXPECT_GT(lowest_share(0), 0.99);
  EXPECT_GT(lowest_share(2), 0.99);
  EXPECT_LT(lowest_share(1), -0.99);
}

// The box of equations.md: 0.1 x 0.2 x 0.4 m at 50 rad/s about every axis, h = 10 ms.
TEST(tumbling_box, gains_no_energy_with_the_implicit_gyroscopic_torque) {
  for (const JointType joint : {JointType::ball, JointType::free}) {
    const Model model = spinning_box(joint);
    Trajectory tumble(model, spun(model, Vector3::Constant(50.0)), Stepper::semi_implicit, 0.01);
    const double start = tumble.energy_now().kinetic;
    for (int i = 0; i < 1000; ++i) {
      tumble.advance();
      ASSERT_LE(tumble.energy_now().kinetic, start * (1 + 1e-12)) << "after " << i + 1 << " steps";
    }
  }
}

TEST(tumbling_box, gains_energy_without_it) {
  const Model model = spinning_box(JointType::free);
  Trajectory tumble(model, spun(model, Vector3::Constant(50.0)), Stepper::explicit_gyroscopic, 0.01);
  const double start = tumble.energy_now().kinetic;
  tumble.advance(80);
  EXPECT_GT(tumble.energy_now().kinetic, 50.0 * start);
}

}  // namespace
}  // namespace articula::testing::rotation_test
