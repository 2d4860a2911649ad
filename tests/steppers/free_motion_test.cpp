// Steps with everything that acts: controls, activations, forces, wrenches, moved bodies.

#include "articula/steppers/free_motion.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/activation.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/steppers/contact_free.hpp"
#include "tests/support/random_forces.hpp"

namespace articula::testing::free_motion_test {
namespace {

struct Case {
  std::mt19937 random;
  Model model;
  State start;
  Input input;

  explicit Case(int seed) : random(static_cast<unsigned>(seed)), model(random_force_model(seed)) {
    const RandomState x = random_state(model, random);
    const RandomInputs inputs = random_inputs(model, random);
    start = {x.q, x.v, inputs.activation, 0.0};
    input.controls = inputs.control;
    input.forces = uniform_vector(random, model.nv());
    input.wrenches = Matrix6X::Zero(6, model.nbody());
    for (int b = 1; b < model.nbody(); ++b) input.wrenches.col(b) = uniform_vector(random, 6);
  }
};

// (M + h diag(slope)) v+ = (M + h diag(slope)) v + h (tau + forces - c), solved densely, with servos at the
// limits that the step found (saturation_test.cpp).
TEST(free_velocity, solves_its_equations) {
  const double h = 0.01;
  for (int seed = 0; seed < 60; ++seed) {
    Case c(seed);
    const int nv = c.model.nv();
    Data data(c.model);
    FreeMotionWork work(c.model);
    VectorX v_free(nv), bias(nv);
    ASSERT_EQ(free_velocity(c.model, data, work, {.dt = h}, c.start, c.input, v_free), StepStatus::ok);

    Data fresh(c.model);
    ForceWork forces(c.model);
    MatrixX M(nv, nv);
    bias_forces(c.model, fresh, c.start.q, c.start.v, bias,
                {.external = &c.input.wrenches, .gyroscopic_step = h});
    applied_forces(c.model, fresh, forces, c.start.q, c.start.v, c.start.activation, c.input.controls, h,
                   &work.forces.saturation);
    crba(c.model, fresh, c.start.q);
    dense_mass_matrix(c.model, fresh, M);
    M.diagonal() += h * forces.slope;
    const VectorX expected = c.start.v + h * M.llt().solve(forces.tau + c.input.forces - bias);
    EXPECT_LT(relative_difference(v_free, expected), 1e-10) << "seed " << seed;
    // What it leaves behind is the factor of that matrix.
    VectorX x = M * expected;
    solve_mass_matrix(c.model, data, x);
    EXPECT_LT(relative_difference(x, expected), 1e-9) << "seed " << seed;
  }
}

TEST(free_velocity, takes_what_is_left_empty_as_zero) {
  Case c(3);
  Data data(c.model);
  FreeMotionWork work(c.model);
  VectorX with(c.model.nv()), without(c.model.nv());
  Input zeros;
  zeros.controls = VectorX::Zero(c.model.nu());
  zeros.forces = VectorX::Zero(c.model.nv());
  zeros.wrenches = Matrix6X::Zero(6, c.model.nbody());
  ASSERT_EQ(free_velocity(c.model, data, work, {}, c.start, c.input, with), StepStatus::ok);
  ASSERT_EQ(free_velocity(c.model, data, work, {}, c.start, zeros, with), StepStatus::ok);
  ASSERT_EQ(free_velocity(c.model, data, work, {}, c.start, {}, without), StepStatus::ok);
  EXPECT_LT(relative_difference(with, without), 1e-14);
}

TEST(contact_free_step, with_inputs_advances_positions_and_activations) {
  for (int seed = 0; seed < 30; ++seed) {
    Case c(seed);
    Data data(c.model), fresh(c.model);
    ContactFreeWork work(c.model);
    FreeMotionWork free(c.model);
    State state = c.start;
    VectorX v(c.model.nv()), q(c.model.nq()), w(c.model.na());
    ASSERT_EQ(contact_free_step(c.model, data, work, {.dt = 0.02}, c.input, state), StepStatus::ok);
    ASSERT_EQ(free_velocity(c.model, fresh, free, {.dt = 0.02}, c.start, c.input, v), StepStatus::ok);
    integrate(c.model, c.start.q, v, 0.02, q);
    next_activations(c.model, c.start.activation, c.input.controls, 0.02, w);
    EXPECT_EQ(state.v, v);
    EXPECT_EQ(state.q, q);
    EXPECT_EQ(state.activation, w);
    EXPECT_DOUBLE_EQ(state.time, 0.02);
  }
}

TEST(contact_free_step, refuses_a_quaternion_without_direction) {
  const Model model = load("quadruped");
  Data data(model);
  ContactFreeWork work(model);
  for (const double entry : {0.0, 1e-200, 1e200}) {
    State state = neutral_state(model);
    state.q.segment<4>(3).setConstant(entry);
    const State before = state;
    EXPECT_EQ(contact_free_step(model, data, work, {}, {}, state), StepStatus::input_not_finite) << entry;
    EXPECT_EQ(state.q, before.q);
  }
}

TEST(contact_free_step, with_inputs_refuses_what_is_not_finite_and_sizes_that_do_not_fit) {
  Case c(1);
  Data data(c.model);
  ContactFreeWork work(c.model);
  State state = c.start;
  Input broken = c.input;
  broken.controls[0] = NAN;
  EXPECT_EQ(contact_free_step(c.model, data, work, {}, broken, state), StepStatus::input_not_finite);
  broken = c.input;
  broken.wrenches(2, 1) = INFINITY;
  EXPECT_EQ(contact_free_step(c.model, data, work, {}, broken, state), StepStatus::input_not_finite);
  EXPECT_EQ(state.q, c.start.q);
  broken.wrenches.resize(6, 1);
  EXPECT_THROW(contact_free_step(c.model, data, work, {}, broken, state), Error);
  broken = c.input;
  broken.controls.resize(c.model.nu() + 1);
  EXPECT_THROW(contact_free_step(c.model, data, work, {}, broken, state), Error);
  EXPECT_THROW(contact_free_step(c.model, data, work, {.dt = 0.0}, c.input, state), Error);
}

// A mass on a slide behind a servo:  m v+ = m v + h (kp (u - q) - kv v+),  whatever kv.
TEST(contact_free_step, takes_the_velocity_gain_of_a_servo_implicitly) {
  const double mass = 2.0, kp = 50.0, h = 0.01;
  for (const double kv : {0.0, 3.0, 1e6}) {
    Description d;
    BodyDescription body;
    body.joints = {JointDescription{.name = "slide", .type = JointType::slide}};
    body.inertia.mass = mass;
    d.gravity.setZero();
    d.bodies.push_back(body);
    ActuatorDescription servo;
    servo.target = "slide";
    servo.gain = {kp, 0, 0};
    servo.bias = {0, -kp, -kv};
    d.actuators.push_back(servo);
    const Model model = build(d);
    Data data(model);
    ContactFreeWork work(model);
    State state = neutral_state(model);
    state.q[0] = 0.3, state.v[0] = -1.0;
    const Input input{.controls = VectorX::Constant(1, 0.7)};
    ASSERT_EQ(contact_free_step(model, data, work, {.dt = h}, input, state), StepStatus::ok);
    const double v = (mass * -1.0 + h * kp * (0.7 - 0.3)) / (mass + h * kv);
    EXPECT_NEAR(state.v[0], v, 1e-12);
    EXPECT_NEAR(state.q[0], 0.3 + h * v, 1e-12);
  }
}

// A box carried by a body that the user moves feels the velocity of its carrier through its damper only.
TEST(contact_free_step, follows_the_bodies_the_user_moves) {
  Description d;
  BodyDescription carrier;
  carrier.name = "carrier";
  carrier.kinematic = true;
  d.bodies.push_back(carrier);
  BodyDescription bob;
  bob.name = "bob";
  bob.parent = "carrier";
  bob.joints = {JointDescription{.name = "swing", .axis = Vector3::UnitY()}};
  bob.inertia.mass = 2.0;
  bob.inertia.com = {0, 0, -0.7};
  d.bodies.push_back(bob);
  const Model model = build(d);
  Data data(model);
  ContactFreeWork work(model);
  const double angle = 0.4, h = 1e-3, turning = 3.0;
  Input input;
  input.kinematic_pose = {Pose{Vector3(1, 2, 3), Quaternion::Identity()}};
  input.kinematic_twist = Matrix6X::Zero(6, 1);
  input.kinematic_twist(5, 0) = turning;  // about the vertical
  State state = neutral_state(model);
  state.q[0] = angle;
  ASSERT_EQ(contact_free_step(model, data, work, {.dt = h}, input, state), StepStatus::ok);
  const double a = -9.81 / 0.7 * std::sin(angle) + turning * turning * std::sin(angle) * std::cos(angle);
  EXPECT_NEAR(state.v[0], h * a, 1e-12);
  // Left out, it rests where it was described, whatever the step before.
  State again = neutral_state(model);
  again.q[0] = angle;
  ASSERT_EQ(contact_free_step(model, data, work, {.dt = h}, {}, again), StepStatus::ok);
  EXPECT_NEAR(again.v[0], -h * 9.81 / 0.7 * std::sin(angle), 1e-12);
}

}  // namespace
}  // namespace articula::testing::free_motion_test
