// Motions whose law is known: free fall, pendulums, oscillators, decays.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/random_tree.hpp"
#include "tests/support/trajectory.hpp"

namespace articula::testing::closed_form_test {
namespace {

using std::numbers::pi;

// x_n = x_0 + n h v_0 + n (n + 1) h^2 g / 2, and the spin about a principal axis stays.
TEST(closed_form, a_falling_body_follows_the_discrete_parabola_to_rounding) {
  const Model model = build(single_body(JointType::free, 3.0, {0.1, 0.2, 0.4}));
  const double h = 0.01;
  const Vector3 v0(1.0, -2.0, 5.0), x0(0.5, 0.25, 10.0), g(0, 0, -9.81);
  State start = neutral_state(model);
  start.q.head<3>() = x0;
  start.v.head<3>() = v0;
  start.v[5] = 7.0;
  Trajectory fall(model, start, Stepper::semi_implicit, h);
  for (int n = 1; n <= 1000; ++n) {
    fall.advance();
    const Vector3 expected = x0 + n * h * v0 + 0.5 * n * (n + 1) * h * h * g;
    ASSERT_LT((fall.state().q.head<3>() - expected).norm(), 1e-13 * n * (1.0 + 0.01 * n)) << n;
    ASSERT_NEAR(fall.state().v[5], 7.0, 1e-12);
  }
  const double angle = 2.0 * std::atan2(fall.state().q[6], fall.state().q[3]);
  EXPECT_NEAR(std::remainder(angle - 1000 * h * 7.0, 2 * pi), 0.0, 1e-11);
}

// Runge-Kutta of order four is exact on a parabola.
TEST(closed_form, runge_kutta_follows_the_true_parabola) {
  const Model model = build(single_body(JointType::free, 3.0, {0.1, 0.2, 0.4}));
  State start = neutral_state(model);
  start.v.head<3>() = Vector3(1, 2, 3);
  Trajectory fall(model, start, Stepper::runge_kutta, 0.01);
  fall.advance(200);
  const Vector3 expected = 2.0 * Vector3(1, 2, 3) + 0.5 * 4.0 * Vector3(0, 0, -9.81);
  EXPECT_LT((fall.state().q.head<3>() - expected).norm(), 1e-11);
}

// A bob on a rod of length l about the y axis; q = 0 hangs down.
Model pendulum(double length) {
  Description d = single_body(JointType::hinge, 1.0, {0.02, 0.02, 0.02});
  d.bodies[0].joints[0].axis = Vector3::UnitY();
  d.bodies[0].inertia.com = {0, 0, -length};
  d.bodies[0].inertia.inertia.setZero();
  return build(d);
}

// Time of the first return to q = 0, by which a quarter of the period has passed: crossed between two
// steps, and found there by Newton's method on q + t v + t^2 a / 2.
double quarter_period(const Model& model, double amplitude, Stepper stepper, double dt) {
  State start = neutral_state(model);
  start.q[0] = amplitude;
  Trajectory swing(model, start, stepper, dt);
  while (swing.state().q[0] > 0.0) swing.advance();
  const double q = swing.state().q[0], v = swing.state().v[0];
  return swing.state().time - q / v;  // a = 0 at the bottom: the remainder is of third order in dt
}

// T = 4 sqrt(l/g) K(sin(amplitude/2))
double expected_quarter(double length, double amplitude) {
  return std::sqrt(length / 9.81) * std::comp_ellint_1(std::sin(0.5 * amplitude));
}

TEST(closed_form, a_pendulum_s_period_at_large_amplitude_is_the_elliptic_integral) {
  const double length = 0.8, amplitude = 2.5;  // 143 degrees
  const Model model = pendulum(length);
  const double exact = expected_quarter(length, amplitude);
  EXPECT_NEAR(quarter_period(model, amplitude, Stepper::runge_kutta, 1e-3), exact, 1e-8);

  double error[3];
  for (int i = 0; i < 3; ++i) {
    error[i] = std::abs(quarter_period(model, amplitude, Stepper::semi_implicit, 1e-3 / (1 << i)) - exact);
  }
  EXPECT_LT(error[0], 2e-3);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(observed_order(error[i], error[i + 1]), 1.0, 0.05);
}

// Error of runge_kutta over one second, against a run with a step 8 times smaller.
double runge_kutta_error(const Model& model, const State& start, double dt, const State& reference) {
  Trajectory motion(model, start, Stepper::runge_kutta, dt);
  motion.advance(static_cast<int>(std::lround(1.0 / dt)));
  return (motion.state().v - reference.v).norm();
}

TEST(closed_form, runge_kutta_is_of_fourth_order_on_every_kind_of_joint) {
  for (int seed = 0; seed < 5; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed) + 40);
    const Model model = random_model(random, {.bodies = 5});
    const RandomState chosen = random_state(model, random);
    const State start{chosen.q, chosen.v, {}, 0.0};
    Trajectory fine(model, start, Stepper::runge_kutta, 1.0 / 6400);
    fine.advance(6400);
    const double coarse = runge_kutta_error(model, start, 1.0 / 400, fine.state());
    const double half = runge_kutta_error(model, start, 1.0 / 800, fine.state());
    EXPECT_NEAR(observed_order(coarse, half), 4.0, 0.4) << "seed " << seed << ": " << coarse << ", " << half;
  }
}

TEST(closed_form, a_double_pendulum_keeps_its_energy_to_fourth_order) {
  Description d = chain_description(2);
  for (BodyDescription& body : d.bodies) body.joints[0].axis = Vector3::UnitY();
  const Model model = build(d);
  State start = neutral_state(model);
  start.q << 1.5, 1.0;
  const auto drift = [&](double dt) {
    Trajectory swing(model, start, Stepper::runge_kutta, dt);
    const double before = swing.energy_now().total();
    double worst = 0.0;
    for (int i = 0; i < std::lround(2.0 / dt); ++i) {
      swing.advance();
      worst = std::max(worst, std::abs(swing.energy_now().total() - before));
    }
    return worst;
  };
  const double coarse = drift(1.0 / 400), half = drift(1.0 / 800);
  EXPECT_LT(coarse, 2e-5);
  EXPECT_GT(observed_order(coarse, half), 3.7);
}

// Semi-implicit Euler is symplectic: the energy of a pendulum swings about its value, it does not drift.
TEST(closed_form, the_semi_implicit_step_does_not_drift_in_energy) {
  const Model model = pendulum(0.8);
  State start = neutral_state(model);
  start.q[0] = 2.0;
  Trajectory swing(model, start, Stepper::semi_implicit, 0.005);
  const double before = swing.energy_now().total();
  const auto worst_over = [&](int steps) {
    double worst = 0.0;
    for (int i = 0; i < steps; ++i)
      swing.advance(), worst = std::max(worst, std::abs(swing.energy_now().total() - before));
    return worst;
  };
  const double early = worst_over(2000), late = worst_over(20000);
  EXPECT_LT(early, 0.15);
  EXPECT_LT(late, 1.05 * early);
}

// x'' = -k/m (x - rest):  cos(w t) to second order in the amplitude, w h the discrete frequency's argument.
//   semi-implicit:  q_{n+1} - 2 q_n + q_{n-1} = -(w h)^2 q_n,  so  q_n = A cos(n p + s),  cos p = 1 - (w
//   h)^2/2
TEST(closed_form, a_spring_oscillates_at_the_discrete_frequency) {
  Description d = single_body(JointType::slide, 2.0, {0.1, 0.1, 0.1});
  d.gravity.setZero();
  d.bodies[0].joints[0].stiffness = 50.0;
  d.bodies[0].joints[0].spring_reference = 0.3;
  const Model model = build(d);
  const double h = 0.01, w = 5.0;
  State start = neutral_state(model);
  start.q[0] = 0.3 + 0.2;
  Trajectory swing(model, start, Stepper::semi_implicit, h);
  const double phase = std::acos(1.0 - 0.5 * w * w * h * h);
  // q_0 = A cos s, q_1 = A cos(p + s), from the step itself: v_1 = -w^2 h q_0
  const double q0 = 0.2, q1 = q0 - w * w * h * h * q0;
  const double s = std::atan2(q0 * std::cos(phase) - q1, q0 * std::sin(phase)), amplitude = q0 / std::cos(s);
  for (int n = 1; n <= 1000; ++n) {
    swing.advance();
    ASSERT_NEAR(swing.state().q[0] - 0.3, amplitude * std::cos(n * phase + s), 1e-12) << n;
  }
}

// (I + h d) w+ = I w:  a damped hinge decays by 1 / (1 + h d / I) a step, however stiff the damper.
TEST(closed_form, a_damped_hinge_decays_at_the_implicit_rate) {
  for (const double damping : {0.01, 1.0, 1e6}) {
    Description d = single_body(JointType::hinge, 2.0, {0.3, 0.3, 0.3});
    d.gravity.setZero();
    d.bodies[0].joints[0].damping = damping;
    d.bodies[0].joints[0].armature = 0.07;
    const double inertia = 2.0 / 12.0 * (0.09 + 0.09) + 0.07, h = 0.02;
    const Model model = build(d);
    State start = neutral_state(model);
    start.v[0] = 3.0;
    Trajectory turn(model, start, Stepper::semi_implicit, h);
    double expected = 3.0;
    for (int n = 1; n <= 50; ++n) {
      const double rounding = 1e-15 * std::abs(turn.state().v[0]);  // v+ is v plus a change
      turn.advance();
      expected /= 1.0 + h * damping / inertia;
      ASSERT_NEAR(turn.state().v[0], expected, n * rounding) << "damping " << damping;
    }
  }
}

// ... and the true rate in the limit.
TEST(closed_form, runge_kutta_sees_exponential_decay) {
  Description d = single_body(JointType::hinge, 2.0, {0.3, 0.3, 0.3});
  d.gravity.setZero();
  d.bodies[0].joints[0].damping = 0.06;
  const Model model = build(d);
  State start = neutral_state(model);
  start.v[0] = 3.0;
  Trajectory turn(model, start, Stepper::runge_kutta, 0.01);
  turn.advance(100);
  EXPECT_NEAR(turn.state().v[0], 3.0 * std::exp(-0.06 / 0.03), 2e-9);
}

}  // namespace
}  // namespace articula::testing::closed_form_test
