// Derivatives of a simulation's steps, in every mode.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "articula/derivatives/differences.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/simulation/batch.hpp"
#include "articula/simulation/snapshot.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::gradients_test {
namespace {

bool same_bits(const MatrixX& a, const MatrixX& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<size_t>(a.size())) == 0;
}

// A step in the middle of a fall on the floor.
Step step_in_contact(const Simulation& simulation, int steps = 150) {
  const Model& model = simulation.model();
  Step step = simulation.step(neutral_state(model));
  for (int i = 0; i < steps; ++i) {
    step.input.controls = VectorX::Constant(model.nu(), 0.2 * std::sin(0.1 * i));
    simulation.step(step.next, step.input, step);
  }
  return step;
}

TEST(gradients, leave_the_forward_result_alone_to_the_bit) {
  for (const Contact law : {Contact::ncp, Contact::lcp, Contact::none}) {
    const Model model = load("half_cheetah");
    const Simulation plain(model, {.contact = law}), watched(model, {.contact = law});
    Step a = plain.step(neutral_state(model)), b = watched.step(neutral_state(model));
    StepJacobians jacobians;
    StepGradient gradient;
    for (int i = 0; i < 120; ++i) {
      const VectorX u = VectorX::Constant(model.nu(), 0.3 * std::sin(0.2 * i));
      a.input.controls = b.input.controls = u;
      plain.step(a.next, a.input, a);
      watched.step(b.next, b.input, b);
      watched.jacobians(b, {}, jacobians);
      watched.pullback(b, {.v = VectorX::Ones(model.nv())},
                       {.mode = i % 2 == 0 ? GradientMode::elastic : GradientMode::complementarity_aware},
                       gradient);
      ASSERT_EQ(state_hash(a.next), state_hash(b.next)) << i;
    }
  }
}

TEST(gradients, of_a_loss_are_the_transposed_jacobians_times_its_covector) {
  for (const char* name : {"half_cheetah", "quadruped", "four_bar", "drone"}) {
    for (const Contact law : {Contact::ncp, Contact::lcp, Contact::none}) {
      const Simulation simulation(load(name), {.contact = law});
      const Model& model = simulation.model();
      const Step step = step_in_contact(simulation);
      ASSERT_TRUE(step.ok());
      const int nv = model.nv(), na = model.na();
      const VectorX x_bar = VectorX::Random(2 * nv + na);
      for (const GradientMode mode : {GradientMode::exact, GradientMode::elastic}) {
        const StepJacobians jacobians = simulation.jacobians(step, {.mode = mode});
        const StepGradient gradient = simulation.pullback(
            step, {x_bar.head(nv), x_bar.segment(nv, nv), x_bar.tail(na)}, {.mode = mode});
        VectorX state(2 * nv + na);
        state << gradient.q, gradient.v, gradient.activation;
        const VectorX expected = jacobians.by_state.transpose() * x_bar;
        EXPECT_LT((state - expected).norm(), 1e-10 * (1.0 + expected.norm())) << name;
        const VectorX by_control = jacobians.by_control.transpose() * x_bar;
        EXPECT_LT((gradient.control - by_control).norm(), 1e-10 * (1.0 + by_control.norm())) << name;
      }
    }
  }
}

// A leg whose knee is bent by a thousandth: its foot moves along one line, nearly, and friction and floor say
// the same of it.
TEST(gradients, of_rows_that_nearly_depend_on_each_other_are_the_transposed_jacobians_all_the_same) {
  constexpr double straight = 0.7853981633974483, bent = straight + 1.3e-3, half = 0.5, radius = 1e-3;
  const Model model = build(parse_mjcf(fmt::format(
      R"(<mujoco><worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 {}"><joint axis="0 1 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.3 0 -0.3" mass="1"/>
        <body pos="{} 0 {}"><joint axis="0 1 0"/>
          <geom type="sphere" size="{}" pos="{} 0 {}" mass="1" friction="3"/></body></body>
      </worldbody></mujoco>)",
      half * (std::cos(straight) + std::cos(bent)) + radius - 1e-7, half * std::sin(straight),
      -half * std::cos(straight), radius, half * std::sin(bent), -half * std::cos(bent))));
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.contact = law});
    State start = neutral_state(model);
    start.v << 1e-3, 2e-3;
    const Step step = simulation.step(start);
    ASSERT_TRUE(step.ok());
    const StepJacobians jacobians = simulation.jacobians(step, {.forces = true});
    ASSERT_LT(jacobians.certificate.conditioning, 1e-5);
    const VectorX w = VectorX::LinSpaced(4, -1.0, 2.0);
    const StepGradient gradient = simulation.pullback(step, {.q = w.head(2), .v = w.tail(2)});
    VectorX found(6), expected(6);
    found << gradient.q, gradient.v, gradient.force;
    expected << jacobians.by_state.transpose() * w, jacobians.by_force.transpose() * w;
    EXPECT_LT((found - expected).norm(), 1e-15 * expected.norm());
  }
}

TEST(gradients, by_forces_are_those_of_products_and_velocities_alone_are_rows_of_all) {
  for (const char* name : {"half_cheetah", "quadruped", "four_bar", "boxes_and_balls"}) {
    for (const Contact law : {Contact::ncp, Contact::lcp, Contact::none}) {
      const Simulation simulation(load(name), {.contact = law});
      const Model& model = simulation.model();
      const Step step = step_in_contact(simulation);
      ASSERT_TRUE(step.ok());
      const int nv = model.nv(), na = model.na();
      const StepJacobians usual = simulation.jacobians(step),
                          all = simulation.jacobians(step, {.forces = true}),
                          forces = simulation.jacobians(step, {.controls = false, .forces = true}),
                          alone = simulation.jacobians(
                              step, {.forces = true, .velocities_alone = true, .certificate = false});
      EXPECT_EQ(usual.by_force.size(), 0);
      EXPECT_EQ(forces.by_control.size(), 0);
      const VectorX x_bar = VectorX::Random(2 * nv + na);
      const StepGradient gradient =
          simulation.pullback(step, {x_bar.head(nv), x_bar.segment(nv, nv), x_bar.tail(na)});
      const VectorX by_force = forces.by_force.transpose() * x_bar;
      EXPECT_LT((gradient.force - by_force).norm(), 1e-10 * (1.0 + by_force.norm())) << name;
      const auto agree = [&](const MatrixX& a, const MatrixX& b) {
        EXPECT_LE((a - b).norm(), 1e-12 * (1.0 + b.norm())) << name << ", " << to_string(law);
      };
      agree(all.by_state, usual.by_state);
      agree(all.by_control, usual.by_control);
      agree(all.by_force, forces.by_force);
      agree(forces.by_state, usual.by_state);
      agree(alone.by_state, usual.by_state.middleRows(nv, nv));
      if (model.nu() > 0) agree(alone.by_control, usual.by_control.middleRows(nv, nv));
      agree(alone.by_force, forces.by_force.middleRows(nv, nv));
    }
  }
  const Simulation simulation(load("hopper"));
  EXPECT_THROW((void)simulation.jacobians(step_in_contact(simulation),
                                          {.mode = GradientMode::finite_difference, .forces = true}),
               Error);
}

TEST(gradients, of_a_step_taken_once_more_have_the_same_bits) {
  const Simulation simulation(load("quadruped"));
  const Step step = step_in_contact(simulation);
  const StepJacobians at_once = simulation.jacobians(step);
  (void)simulation.step(step.next, step.input);
  const StepJacobians later = simulation.jacobians(step);
  EXPECT_TRUE(same_bits(at_once.by_state, later.by_state));
  EXPECT_TRUE(same_bits(at_once.by_control, later.by_control));
}

TEST(gradients, agree_with_differences_of_the_true_step) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(load("half_cheetah"), {.contact = law});
    const Model& model = simulation.model();
    const Step step = step_in_contact(simulation, 200);
    GradientSettings settings{.parameters = model.parameters().matching("body/*/inertia")};
    for (const ParameterSlice& slice : model.parameters().matching("gravity"))
      settings.parameters.push_back(slice);
    const StepCovector covector{VectorX::Random(model.nv()), VectorX::Random(model.nv()), {}};
    const StepJacobians jacobians = simulation.jacobians(step);
    const StepGradient gradient = simulation.pullback(step, covector, settings);
    settings.mode = GradientMode::finite_difference;
    for (const bool ridders : {false, true}) {
      settings.ridders = ridders;
      const StepJacobians differences = simulation.jacobians(step, settings);
      EXPECT_LT(relative_error(jacobians.by_state, differences.by_state), ridders ? 1e-6 : 1e-3);
      EXPECT_LT(relative_error(jacobians.by_control, differences.by_control), ridders ? 1e-6 : 1e-3);
      const StepGradient difference = simulation.pullback(step, covector, settings);
      EXPECT_LT(relative_error(gradient.wrench, difference.wrench), ridders ? 1e-5 : 1e-3);
      EXPECT_LT(relative_error(gradient.parameters, difference.parameters), ridders ? 1e-5 : 1e-3);
    }
  }
}

// A ball falls on a floor without a bounce, v+ = -e v, and a flywheel turns without dry friction,
// w+ = w - h f / I: neither number can become negative.
TEST(gradients, by_differences_at_the_end_of_a_range_are_those_to_one_side) {
  constexpr double h = 0.01, v = -2.0, I = 0.03;
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.01"/><worldbody>
      <geom type="plane" size="1 1 1" condim="1"/>
      <body pos="0 0 0.102"><freejoint/><geom name="ball" size="0.1" mass="1" condim="1"/></body>
      <body pos="5 0 1"><joint name="axle" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.03"/>
      </body></worldbody></mujoco>)"));
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.contact = law});
    State x = neutral_state(model);
    x.v[2] = v;
    x.v[6] = 3.0;
    const Step step = simulation.step(x);
    GradientSettings settings{.mode = GradientMode::finite_difference};
    for (const char* name : {"geometry/ball/restitution", "joint/axle/dry_friction"})
      settings.parameters.push_back(model.parameters().find(name));
    StepCovector covector{{}, VectorX::Unit(7, 2) + VectorX::Unit(7, 6), {}};
    for (const bool ridders : {false, true}) {
      settings.ridders = ridders;
      const StepGradient found = simulation.pullback(step, covector, settings);
      const double tolerance = ridders ? 1e-9 : 1e-7;
      EXPECT_NEAR(found.parameters[0], -v, tolerance) << ridders;
      EXPECT_NEAR(found.parameters[1], -h / I, tolerance) << ridders;
      EXPECT_TRUE(found.certificate.one_sided);
      EXPECT_FALSE(simulation.pullback(step, covector, {.mode = GradientMode::finite_difference})
                       .certificate.one_sided);
    }
  }
}

// Two legs and a frame without mass on the second, of which all sizes move alike; a leg may be a rod, with
// nothing about its axis.
Description legs(double size, double about_axis) {
  const double m = 1000.0 * size * size * size;
  Description d = empty_world();
  d.gravity *= size;
  for (const char* name : {"thigh", "shank", "frame"}) {
    BodyDescription body;
    body.name = name;
    if (!d.bodies.empty()) body.parent = d.bodies.back().name;
    body.pose.position = size * Vector3(1, 0, 0);
    if (d.bodies.size() < 2) {
      body.inertia.mass = m;
      body.inertia.com = size * Vector3(0.5, 0.1, 0);
      body.inertia.inertia = m * size * size * Vector3(about_axis, 0.1, 0.1).asDiagonal();
      JointDescription joint;
      joint.name = body.name + "_joint";
      joint.type = JointType::hinge;
      joint.axis = Vector3(0, 1, 0.2);
      body.joints.push_back(joint);
    }
    d.bodies.push_back(body);
  }
  return d;
}

// The least friction acts against what moves: lam = -h f.
TEST(gradients, by_dry_friction_that_is_zero_are_those_from_above) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody>
      <body><joint name="a" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/>
        <body pos="0.3 0 0"><joint name="b" axis="0 1 0"/>
          <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/></body></body></worldbody>
      <tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="b" coef="-1"/></fixed></tendon>
      </mujoco>)"));
  const Simulation simulation(model);
  State start = neutral_state(model);
  start.v << 0.5, -0.7;
  const Step step = simulation.step(start);
  GradientSettings settings{.parameters = model.parameters().matching("*/dry_friction")};
  ASSERT_EQ(settings.parameters.size(), 3u);
  const StepCovector covector{.v = Vector2(1.0, 0.3)};
  const StepGradient exact = simulation.pullback(step, covector, settings);
  settings.mode = GradientMode::finite_difference;
  const StepGradient differences = simulation.pullback(step, covector, settings);
  EXPECT_FALSE(exact.certificate.one_sided);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(exact.parameters[i], 0.0) << i;
    EXPECT_NEAR(exact.parameters[i], differences.parameters[i], 1e-9) << i;
  }
}

TEST(gradients, by_friction_and_restitution_that_are_zero_do_not_exist) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody><geom type="plane" size="0 0 1" friction="0"/>
      <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0"/></body>
      </worldbody></mujoco>)"));
  const Simulation simulation(model);
  State start = neutral_state(model);
  const auto one_sided = [&](double falls, const char* parameter) {
    start.v << 0.5, 0.0, -falls, 0.0, 0.0, 0.0;
    return simulation
        .pullback(simulation.step(start), {.v = VectorX::Ones(6)},
                  {.parameters = model.parameters().matching(parameter)})
        .certificate.one_sided;
  };
  EXPECT_TRUE(one_sided(0.0, "*/friction"));
  EXPECT_TRUE(one_sided(0.7, "*/restitution"));
  EXPECT_FALSE(one_sided(0.0, "*/restitution"));
  EXPECT_FALSE(one_sided(0.7, "*/inertia"));
}

// Moments of legs of 1 mm are of 1e-13 kg m^2: a difference that is small beside one number is none of a real
// body beside another.
TEST(gradients, by_differences_are_found_for_bodies_of_any_size_and_kind) {
  for (const double size : {1e-3, 1e-2, 1.0, 100.0}) {
    for (const double about_axis : {0.01, 1e-10}) {
      const Simulation simulation(build(legs(size, about_axis)));
      const Model& model = simulation.model();
      State x = neutral_state(model);
      x.q = Vector2(0.3, -0.5);
      x.v = Vector2(3.0, -2.0);
      const Step step = simulation.step(x);
      const StepCovector covector{VectorX::Ones(2), VectorX::Ones(2), {}};
      for (const char* name : {"body/thigh/inertia", "body/shank/inertia", "body/frame/inertia",
                               "joint/*/armature", "joint/*/damping", "joint/*/stiffness"}) {
        GradientSettings settings{.parameters = model.parameters().matching(name)};
        const VectorX exact = simulation.pullback(step, covector, settings).parameters;
        VectorX units = VectorX::Ones(exact.size());
        if (name[0] == 'b')
          for (int i = 0; i < 10; ++i) units[i] = std::pow(size, i == 0 ? 3 : i < 4 ? 4 : 5);
        settings.mode = GradientMode::finite_difference;
        for (const bool ridders : {false, true}) {
          settings.ridders = ridders;
          const VectorX found = simulation.pullback(step, covector, settings).parameters;
          EXPECT_LT((found - exact).cwiseProduct(units).cwiseAbs().maxCoeff(),
                    (ridders ? 1e-7 : 1e-4) * exact.cwiseProduct(units).cwiseAbs().maxCoeff())
              << size << " " << about_axis << " " << name << " " << ridders;
        }
      }
    }
  }
}

TEST(gradients, of_a_batch_are_those_of_single_simulations_for_any_number_of_threads) {
  const Model model = load("hopper");
  constexpr int count = 7;
  BatchJacobians one, two;
  BatchGradient gradient, other;
  for (const int threads : {1, 2}) {
    const Batch batch(model, count, {}, threads);
    BatchStep step;
    step.next = batch.neutral_states();
    const MatrixX u = MatrixX::Constant(model.nu(), count, 0.1);
    for (int e = 0; e < count; ++e) step.next.v.col(e).array() -= 0.1 * e;
    BatchState x;
    for (int i = 0; i < 60; ++i) {
      x = step.next;
      batch.step(x, u, step);
    }
    const BatchCovector covector{.v = MatrixX::Ones(model.nv(), count)};
    const GradientSettings settings{.parameters = model.parameters().matching("*/friction")};
    batch.jacobians(x, u, step, settings, threads == 1 ? one : two);
    batch.pullback(x, u, step, covector, settings, threads == 1 ? gradient : other);
    const Simulation simulation(model);
    for (int e = 0; e < count && threads == 1; ++e) {
      const Step single =
          simulation.step({x.q.col(e), x.v.col(e), x.activation.col(e), x.time[e]}, u.col(e), step.warm[e]);
      const StepGradient alone = simulation.pullback(single, {.v = VectorX::Ones(model.nv())}, settings);
      EXPECT_TRUE(same_bits(alone.q, gradient.q.col(e)) && same_bits(alone.control, gradient.control.col(e)));
      EXPECT_TRUE(same_bits(alone.parameters, gradient.parameters.col(e)));
    }
  }
  EXPECT_TRUE(same_bits(one.by_state, two.by_state) && same_bits(one.by_control, two.by_control));
  EXPECT_TRUE(same_bits(gradient.q, other.q) && same_bits(gradient.parameters, other.parameters));
}

// A ball that hits the floor at speed -v leaves with e v: the discrete step ends at z + h e v, wherever in
// the step it hit. In continuous time it hits at t = -z/v and ends at e v (h - t): dz+/dz = -e.
TEST(gradients, of_a_bounce_are_those_of_the_discrete_step_or_of_continuous_time) {
  constexpr double e = 0.7;
  Description d = empty_world();
  add_floor(d, {.friction = 0.0, .restitution = e, .condim = 1});
  add_ball(d, "ball", 0.1, 0.5, {0, 0, 0.102}, {.friction = 0.0, .restitution = e, .condim = 1});
  const Simulation simulation(build(d), {.dt = 0.01});
  State x = neutral_state(simulation.model());
  x.v[2] = -2.0;
  const Step step = simulation.step(x);
  EXPECT_NEAR(step.next.v[2], e * 2.0, 1e-12);
  const StepJacobians exact = simulation.jacobians(step);
  const StepJacobians elastic = simulation.jacobians(step, {.mode = GradientMode::elastic});
  EXPECT_NEAR(exact.by_state(2, 2), 1.0, 1e-12);
  EXPECT_NEAR(exact.by_state(8, 8), -e, 1e-12);
  EXPECT_NEAR(elastic.by_state(2, 2), -e, 1e-12);
  EXPECT_NEAR(elastic.by_state(2, 8), -e * 0.01, 1e-12);
}

// Nimble's drone: thrust that does not lift it moves nothing, as long as the floor holds it.
TEST(gradients, that_know_of_complementarity_see_that_thrust_would_lift_a_body_off_the_floor) {
  Description d = empty_world();
  add_floor(d);
  add_box(d, "drone", {0.2, 0.2, 0.05}, 1.0, {0, 0, 0.05});
  const Simulation simulation(build(d), {.dt = 0.01});
  Step step = simulation.step(neutral_state(simulation.model()));
  for (int i = 0; i < 20; ++i) simulation.step(step.next, step.input, step);
  StepCovector up;
  up.v = VectorX::Zero(6);
  up.v[2] = -1.0;  // the loss falls as it rises
  const StepGradient exact = simulation.pullback(step, up);
  EXPECT_LT(exact.force.norm(), 1e-9);
  const StepGradient aware = simulation.pullback(step, up, {.mode = GradientMode::complementarity_aware});
  EXPECT_NEAR(aware.force[2], -0.01, 1e-9);  // h / m
  EXPECT_TRUE(aware.certificate.relabelled);
  up.v[2] = 1.0;  // pressing it down changes nothing in either
  EXPECT_LT(simulation.pullback(step, up, {.mode = GradientMode::complementarity_aware}).force.norm(), 1e-9);
}

// The mean over velocities of a gradient that is 0 while the floor holds and 1 while it does not.
TEST(gradients, that_are_randomised_see_both_sides_of_a_switch) {
  Description d = empty_world();
  add_floor(d, {.friction = 0.0, .condim = 1});
  add_ball(d, "ball", 0.1, 1.0, {0, 0, 0.1}, {.friction = 0.0, .condim = 1});
  const Simulation simulation(build(d), {.dt = 0.01});
  const Step step = simulation.step(neutral_state(simulation.model()));
  GradientSettings settings{.mode = GradientMode::randomised, .samples = 400, .position_spread = 0.0};
  settings.velocity_spread = 0.1;
  const StepJacobians mean = simulation.jacobians(step, settings);
  // It leaves the floor if v > h g = 0.0981: with probability Phi(-0.981) = 0.163.
  EXPECT_NEAR(mean.by_state(8, 8), 0.163, 0.05);
  EXPECT_TRUE(same_bits(mean.by_state, simulation.jacobians(step, settings).by_state));
}

// A control at the end of its range moves nothing beyond it: differences from both sides see half of that.
TEST(gradients, at_an_end_of_a_range_of_controls_are_one_sided) {
  const Simulation simulation(build(parse_mjcf(R"(<mujoco><worldbody><body>
      <joint name="hinge" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
    </worldbody><actuator><motor joint="hinge" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>)")));
  for (const double control : {0.5, 1.0}) {
    Input input;
    input.controls = VectorX::Constant(1, control);
    const Step step = simulation.step(neutral_state(simulation.model()), input);
    EXPECT_EQ(simulation.jacobians(step).certificate.one_sided, control == 1.0);
    EXPECT_EQ(simulation.pullback(step, {.v = VectorX::Ones(1)}).certificate.one_sided, control == 1.0);
  }
}

// A gap that is just as deep as recovery is fast: deeper overlaps recover no faster.
TEST(gradients, know_how_far_a_gap_is_from_being_capped) {
  constexpr double depth = 1.9e-3, dt = 0.01, recovery_speed = 0.2;
  Description d = empty_world();
  add_floor(d, {.friction = 0.5});
  add_ball(d, "ball", 0.1, 1.0, {0, 0, 0.1 - depth}, {.friction = 0.5});
  const Simulation simulation(build(d), {.dt = dt, .recovery_speed = recovery_speed});
  const Step step = simulation.step(neutral_state(simulation.model()));
  EXPECT_NEAR(simulation.jacobians(step).certificate.velocity_margin, recovery_speed - depth / dt, 1e-9);
}

TEST(gradients, of_a_step_of_another_simulation_are_refused) {
  const Model model = load("half_cheetah");
  const Simulation simulation(model, {.contact = Contact::ncp}), same(model, {.contact = Contact::ncp}),
      finer(model, {.dt = 1e-4, .contact = Contact::ncp}),
      falling(model.with("gravity", Vector3(0, 0, -5)), {.contact = Contact::ncp});
  const Step step = step_in_contact(simulation);
  EXPECT_EQ(state_hash(step.next), state_hash(step_in_contact(same).next));
  EXPECT_TRUE(same_bits(simulation.jacobians(step).by_state, same.jacobians(step).by_state));
  EXPECT_THROW((void)finer.jacobians(step), Error);
  EXPECT_THROW((void)falling.pullback(step, {.v = VectorX::Ones(model.nv())}), Error);
}

TEST(gradients, of_a_step_that_failed_are_refused) {
  const Simulation simulation(load("hopper"));
  State x = neutral_state(simulation.model());
  x.v[0] = NAN;
  const Step step = simulation.step(x);
  EXPECT_THROW((void)simulation.jacobians(step), Error);
}

}  // namespace
}  // namespace articula::testing::gradients_test
