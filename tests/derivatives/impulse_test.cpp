// Derivatives of the impulse step against Ridders' differences of the step with its modes held.

#include "articula/derivatives/impulse.hpp"

#include <gtest/gtest.h>

#include "articula/derivatives/differences.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/disturbed_step.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::impulse_test {
namespace {

constexpr ParameterKind kinds[] = {
    ParameterKind::inertia, ParameterKind::placement, ParameterKind::geometry,     ParameterKind::friction,
    ParameterKind::damping, ParameterKind::stiffness, ParameterKind::dry_friction, ParameterKind::restitution,
    ParameterKind::limits,  ParameterKind::gains,     ParameterKind::gravity,      ParameterKind::armature,
    ParameterKind::dt};

// Largest error relative to the largest number of the reference, both with a floor.
double error_of(const VectorX& derivative, const VectorX& reference) {
  const double scale = std::max(reference.cwiseAbs().maxCoeff(), 1e-3);
  return (derivative - reference).cwiseAbs().maxCoeff() / scale;
}

// Everything a step takes, one block after the other.
int expect_true_derivatives(Scene& scene, std::mt19937& random, double tolerance, const std::string& where) {
  int compared = 0;
  DisturbedStep step(scene);
  const StepInputs& at = step.layout();
  const int nv = scene.model.nv(), na = scene.model.na(), nu = scene.model.nu();
  std::vector<std::pair<std::string, VectorX>> directions;
  const auto block = [&](const std::string& name, int begin, int size) {
    if (size == 0) return;
    VectorX dz = VectorX::Zero(at.size);
    dz.segment(begin, size) = uniform_vector(random, size);
    directions.emplace_back(name, dz);
  };
  block("q", at.q, nv);
  block("v", at.v, nv);
  block("activation", at.activation, na);
  block("control", at.control, nu);
  block("force", at.force, nv);
  for (ParameterKind kind : kinds) {
    const VectorX dz = parameter_direction(scene.model, at, kind, random);
    if (!dz.isZero(0.0)) directions.emplace_back(std::string(to_string(kind)), dz);
  }
  MatrixX by_state, by_control;
  step.jacobians(by_state, by_control);
  for (const auto& [name, dz] : directions) {
    const VectorX dx = step.along(dz);
    // A change that the active rows cannot follow (a box that fills a slot, made wider) has no derivative.
    if (step.certificate().inconsistency > 1e-9) continue;
    ++compared;
    EXPECT_LT(error_of(dx, step.difference_along(dz)), tolerance) << where << ", " << name;
    const VectorX x_bar = uniform_vector(random, step.outputs());
    const VectorX z_bar = step.against(x_bar);
    EXPECT_TRUE(z_bar.allFinite());
    EXPECT_NEAR(z_bar.dot(dz), x_bar.dot(dx), 1e-9 * (1.0 + dx.norm())) << where << ", " << name;
    VectorX dstate(step.outputs());
    dstate << dz.segment(at.q, nv), dz.segment(at.v, nv), dz.segment(at.activation, na);
    if (name == "q" || name == "v" || name == "activation")
      EXPECT_LT(error_of(by_state * dstate, dx), 1e-6) << where << ", Jacobian by " << name;
    if (name == "control")
      EXPECT_LT(error_of(by_control * dz.segment(at.control, nu), dx), 1e-6)
          << where << ", Jacobian by control";
  }
  return compared;
}

TEST(impulse_derivatives, of_a_block_that_sticks_or_slides) {
  std::mt19937 random(1);
  for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (double speed : {0.0, 1.0}) {
      Description d = empty_world();
      add_floor(d, {.friction = 0.4});
      add_box(d, "block", {0.2, 0.15, 0.1}, 2.0, {0, 0, 0.1}, {.friction = 0.3});
      Scene scene(d, 0.01, law);
      scene.velocity(0) = Vector3(speed, 0.3 * speed, 0.0);
      expect_true_derivatives(scene, random, 1e-6, speed > 0.0 ? "sliding" : "sticking");
    }
  }
}

// Four corners share its weight in many ways, and friction at its bound turns the box differently in each of
// them: the step takes the smallest impulses, and what they become is part of the derivative. Differences of
// the true step are the oracle.
TEST(impulse_derivatives, of_a_box_that_slides_and_turns_on_its_corners) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    Description d = empty_world();
    add_floor(d, {.friction = 0.4});
    add_box(d, "box", {0.2, 0.15, 0.1}, 2.0, {0, 0, 0.1}, {.friction = 0.3});
    const Simulation simulation(build(d), {.dt = 0.01, .contact = law});
    State x = neutral_state(simulation.model());
    x.v << 1.0, 0.3, 0.0, 0.0, 0.0, 2.0;
    const Step step = simulation.step(x);
    StepJacobians exact, differences;
    simulation.jacobians(step, {}, exact);
    simulation.jacobians(step, {.mode = GradientMode::finite_difference, .ridders = true}, differences);
    EXPECT_TRUE(exact.certificate.redundant);
    EXPECT_FALSE(exact.certificate.one_sided);  // how the choice changes is known
    EXPECT_LT(relative_error(exact.by_state, differences.by_state), 1e-6) << to_string(law);
    StepGradient gradient;
    const VectorX covector = VectorX::LinSpaced(6, -1.0, 1.0);
    simulation.pullback(step, {covector, covector, {}}, {}, gradient);
    VectorX both(12), found(12);
    both << covector, covector;
    found << gradient.q, gradient.v;
    EXPECT_LT((exact.by_state.transpose() * both - found).norm(), 1e-10 * found.norm());
  }
}

// How the corners share their load is known to rounding, not to rounding over the softness of the laws: short
// steps beside each other differ by what they should.
TEST(impulse_derivatives, of_a_box_that_slides_on_its_corners_can_be_told_from_short_differences) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    Description d = empty_world();
    add_floor(d, {.friction = 0.4});
    add_box(d, "box", {0.2, 0.15, 0.1}, 2.0, {0, 0, 0.1}, {.friction = 0.3});
    const Simulation simulation(build(d), {.dt = 0.01, .contact = law});
    State x = neutral_state(simulation.model());
    x.v << 1.0, 0.3, 0.0, 0.0, 0.0, 2.0;
    constexpr double t = 1e-7;
    const auto end = [&](double shift) {
      State beside = x;
      beside.v[5] += shift;
      return VectorX(simulation.step(beside).next.v);
    };
    const VectorX third = end(3 * t) - 3 * end(t) + 3 * end(-t) - end(-3 * t);
    EXPECT_LT(third.cwiseAbs().maxCoeff(), 1e-14) << to_string(law);
  }
}

// v+ = -(q - end) / h, whatever friction does: where the joint follows the end of its range friction gives
// way.
TEST(impulse_derivatives, of_a_joint_with_dry_friction_at_the_end_of_its_range) {
  const Model model = load("arm");
  const Structure& s = model.structure();
  constexpr double h = 0.002;
  int held = 0;
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.dt = h, .contact = law});
    for (size_t j = 0; j < s.joints.size(); ++j) {
      const JointIndex& joint = s.joints[j];
      if (joint.range < 0 || joint.type == JointType::ball) continue;
      State x = neutral_state(model);
      x.q[joint.q] = model.theta()[joint.range + 1];
      Input input;
      input.forces = VectorX::Zero(model.nv());
      input.forces[joint.dof] = 500.0;
      const Step step = simulation.step(x, input);
      if (std::abs(step.next.v[joint.dof]) > 1e-9) continue;
      const StepJacobians jacobians = simulation.jacobians(step);
      EXPECT_NEAR(jacobians.by_state(model.nv() + joint.dof, joint.dof), -1.0 / h, 1e-6 / h) << "joint " << j;
      EXPECT_NEAR(jacobians.by_state(joint.dof, joint.dof), 0.0, 1e-9) << "joint " << j;
      ++held;
    }
  }
  EXPECT_GT(held, 4);
}

// The same of a tendon: l'+ = -(l - end) / h, l = q_0 - q_1 / 2.
TEST(impulse_derivatives, of_a_tendon_with_dry_friction_at_the_end_of_its_range) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody>
      <body><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" size=".02" fromto="0 0 0 .2 0 0"/>
        <body pos=".2 0 0"><joint name="b" axis="0 1 0" damping=".1"/>
          <geom type="capsule" size=".02" fromto=".05 0 0 .2 0 0"/></body></body></worldbody>
    <tendon><fixed limited="true" range="-.6 .6" frictionloss=".02"><joint joint="a" coef="1"/>
      <joint joint="b" coef="-.5"/></fixed></tendon></mujoco>)"));
  constexpr double h = 0.002;
  const Eigen::Vector2d coefficients(1.0, -0.5);
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.dt = h, .contact = law});
    State x = neutral_state(model);
    x.q << 0.9, 0.6;
    Input input;
    input.forces = 5.0 * coefficients;
    const Step step = simulation.step(x, input);
    ASSERT_NEAR(coefficients.dot(step.next.v), 0.0, 1e-9);
    const StepJacobians jacobians = simulation.jacobians(step);
    EXPECT_FALSE(jacobians.certificate.one_sided);
    const Eigen::RowVector2d of_length = coefficients.transpose() * jacobians.by_state.block<2, 2>(2, 0);
    EXPECT_LT((of_length + coefficients.transpose() / h).norm(), 1e-6 / h);
    const auto beside = [&](int i, double t) {
      State shifted = x;
      shifted.q[i] += t;
      return VectorX(simulation.step(shifted, input).next.v);
    };
    for (int i = 0; i < 2; ++i) {
      const VectorX slope = (beside(i, 1e-6) - beside(i, -1e-6)) / 2e-6;
      EXPECT_LT((slope - jacobians.by_state.col(i).tail(2)).norm(), 1e-6 * slope.norm());
    }
  }
}

TEST(impulse_derivatives, of_balls_that_roll_spin_and_bounce) {
  std::mt19937 random(2);
  for (int condim : {1, 3, 4, 6}) {
    const Material material{.friction = 0.5,
                            .restitution = condim == 3 ? 0.6 : 0.0,
                            .condim = condim,
                            .spinning = 0.02,
                            .rolling = 0.01};
    Description d = empty_world();
    add_floor(d, material);
    add_ball(d, "a", 0.1, 0.5, {0, 0, 0.0999}, material);
    add_ball(d, "b", 0.15, 1.5, {0.2, 0.1, 0.1501}, material);
    Scene scene(d, 0.005);
    scene.velocity(0) = Vector3(0.8, 0.2, -0.5);
    scene.velocity(1) = Vector3(-0.5, 0.1, -0.7);
    scene.state.v.segment<3>(3) = Vector3(1, 2, 3);
    expect_true_derivatives(scene, random, 1e-6, "condim " + std::to_string(condim));
  }
}

TEST(impulse_derivatives, of_own_robots_in_contact) {
  std::mt19937 random(3);
  const int between = sanitized ? 99 : 33;
  int compared = 0;
  for (const char* name : {"half_cheetah", "ant", "hopper", "four_bar", "arm"}) {
    for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
      Scene scene(describe(name), 0.005, law);
      for (int k = 0; k < 120; ++k) {
        if (k % 10 == 0) scene.input.controls = uniform_vector(random, scene.model.nu(), 0.7);
        if (k > 20 && k % between == 0)
          compared += expect_true_derivatives(scene, random, 2e-6, fmt::format("{} step {}", name, k));
        impulse_step(scene.model, scene.data, scene.work, scene.settings, scene.input, scene.state,
                     scene.warm);
      }
    }
  }
  EXPECT_GT(compared * between, 200 * 33);
}

}  // namespace
}  // namespace articula::testing::impulse_test
