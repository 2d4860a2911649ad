// Servos with force limits: what they give at the end of a step decides which of them are at a limit.

#include "articula/dynamics/saturation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/dynamics/crba.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/disturbed_step.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::saturation_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Servo {
  double kp = 0.0, kv = 0.0, gear = 1.0, low = -infinity, high = infinity;
  double joint_low = -infinity, joint_high = infinity;
  std::optional<Vector2> range = {};  // of the slide
};

void add_servo(Description& d, const Servo& servo, const std::string& joint) {
  ActuatorDescription a;
  a.name = joint + "_servo";
  a.target = joint;
  a.gear[0] = servo.gear;
  a.gain = {servo.kp > 0.0 ? servo.kp : servo.kv, 0.0, 0.0};
  a.bias = {0.0, -servo.kp, -servo.kv};
  if (servo.high < infinity) a.force_range = Vector2(servo.low, servo.high);
  d.actuators.push_back(a);
}

// Bodies that slide on each other, the first on the world, along directions that are not at right angles: the
// mass matrix is constant and full.
Description sliders(const std::vector<Servo>& servos, const std::vector<double>& masses) {
  Description d = empty_world();
  d.gravity = Vector3::Zero();
  for (size_t i = 0; i < servos.size(); ++i) {
    BodyDescription body;
    body.name = "body" + std::to_string(i);
    if (i > 0) body.parent = "body" + std::to_string(i - 1);
    JointDescription joint;
    joint.name = "slide" + std::to_string(i);
    joint.type = JointType::slide;
    joint.axis = Vector3(1.0, 0.4 * static_cast<double>(i), -0.3 * static_cast<double>(i % 3));
    joint.range = servos[i].range;
    if (servos[i].joint_high < infinity)
      joint.actuator_force_range = Vector2(servos[i].joint_low, servos[i].joint_high);
    body.joints.push_back(joint);
    body.inertia.mass = masses[i];
    body.inertia.inertia = Matrix3::Identity() * (0.1 * masses[i]);
    d.bodies.push_back(body);
    add_servo(d, servos[i], joint.name);
  }
  return d;
}

double limited(double x, double low, double high) { return std::max(low, std::min(high, x)); }

// What the description says of the force at the end of a step, q as at its start.
double force_at(const Servo& servo, double u, double q, double v) {
  const double gain = servo.kp > 0.0 ? servo.kp : servo.kv;
  const double f =
      limited(gain * u - servo.kp * servo.gear * q - servo.kv * servo.gear * v, servo.low, servo.high);
  return limited(servo.gear * f, servo.joint_low, servo.joint_high);
}

MatrixX mass_matrix(const Model& model, const VectorX& q) {
  Data data(model);
  MatrixX M(model.nv(), model.nv());
  crba(model, data, q);
  dense_mass_matrix(model, data, M);
  return M;
}

Step step_from(const Simulation& simulation, const VectorX& q, const VectorX& v, const VectorX& u) {
  State x = neutral_state(simulation.model());
  x.q = q;
  x.v = v;
  const Step step = simulation.step(x, u);
  EXPECT_EQ(step.status(), StepStatus::ok);
  return step;
}

// One mass: it accelerates at f / m, and has the speed asked for as soon as that takes less than f.
TEST(saturable_servos, reach_their_speed_with_all_their_force_and_do_not_pass_it) {
  const double m = 2.0, f = 3.0, u = 1.0, h = 0.01;
  for (const double kv : {1.0, 1e2, 1e4, 1e6}) {
    for (const double gear : {1.0, 3.0}) {
      for (const Contact law : {Contact::none, Contact::lcp, Contact::ncp}) {
        const Servo servo{.kv = kv, .gear = gear, .low = -f, .high = f};
        const Simulation simulation(build(sliders({servo}, {m})), {.dt = h, .contact = law});
        VectorX q = VectorX::Zero(1), v = VectorX::Constant(1, -0.5);
        for (int i = 0; i < 400; ++i) {
          const double k = kv * gear * gear, fastest = v[0] + h * gear * f / m,
                       linear = (m * v[0] + h * k * u / gear) / (m + h * k);
          const Step step = step_from(simulation, q, v, VectorX::Constant(1, u));
          const double expected = std::min(fastest, linear);
          ASSERT_NEAR(step.next.v[0], expected, 1e-12) << "kv " << kv << ", step " << i;
          ASSERT_LE(step.next.v[0], u / gear + 1e-12);
          v = step.next.v;
          q = step.next.q;
        }
        if (kv > 10.0) EXPECT_NEAR(v[0], u / gear, 1e-9);
      }
    }
  }
}

// The force at the start of the step is beyond the limit, that at its end is not.
TEST(saturable_servos, are_within_their_limits_if_they_are_at_the_end_of_the_step) {
  const double m = 1.0, h = 0.01, kv = 50.0, f = 20.0;
  const Simulation simulation(build(sliders({{.kv = kv, .low = -f, .high = f}}, {m})), {.dt = h});
  const double v = 0.5;  // kv (1 - v) = 25 now, 25 m / (m + h kv) = 16.7 then
  const Step step =
      step_from(simulation, VectorX::Zero(1), VectorX::Constant(1, v), VectorX::Constant(1, 1.0));
  EXPECT_NEAR(step.next.v[0], (m * v + h * kv) / (m + h * kv), 1e-14);
  const StepJacobians d = simulation.jacobians(step);
  EXPECT_NEAR(d.by_state(1, 1), m / (m + h * kv), 1e-12);
  EXPECT_NEAR(d.by_control(1, 0), h * kv / (m + h * kv), 1e-12);
  EXPECT_FALSE(d.certificate.one_sided);
}

struct Sample {
  std::vector<Servo> servos;
  std::vector<double> masses;
  VectorX q, v, u;
};

Sample sample(std::mt19937& random, int n, bool dampers) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Sample s{{}, {}, VectorX(n), VectorX(n), VectorX(n)};
  for (int i = 0; i < n; ++i) {
    Servo servo{.kp = dampers ? 0.0 : std::pow(10.0, uniform(0, 3)),
                .kv = std::pow(10.0, uniform(-1, 6)),
                .gear = uniform(0.3, 3.0) * (i % 2 == 0 ? 1 : -1),
                .low = -std::pow(10.0, uniform(-1, 2)),
                .high = std::pow(10.0, uniform(-1, 2))};
    if (i % 3 == 1) servo.joint_low = -std::pow(10.0, uniform(-1, 2)), servo.joint_high = -servo.joint_low;
    s.servos.push_back(servo);
    s.masses.push_back(uniform(0.5, 2.0));
    s.q[i] = uniform(-0.3, 0.3);
    s.v[i] = uniform(-2.0, 2.0);
    s.u[i] = dampers ? 0.0 : uniform(-1.0, 1.0);
  }
  return s;
}

// M (v+ - v) = h f(v+), f as the description says it: the law itself is the oracle.
TEST(saturable_servos, that_pull_at_each_other_obey_their_laws_together) {
  const double h = 0.01;
  std::mt19937 random(3);
  int limits = 0, decided_later = 0;
  for (int k = 0; k < 500; ++k) {
    const Sample s = sample(random, 6, false);
    const Model model = build(sliders(s.servos, s.masses));
    const Simulation simulation(model, {.dt = h, .contact = k % 2 == 0 ? Contact::none : Contact::ncp});
    const Step step = step_from(simulation, s.q, s.v, s.u);
    const VectorX v = step.next.v, impulse = mass_matrix(model, s.q) * (v - s.v);
    for (int i = 0; i < 6; ++i) {
      const Servo& servo = s.servos[i];
      const double f = force_at(servo, s.u[i], s.q[i], v[i]);
      const double noise = 1e-11 * (1.0 + servo.kv * servo.gear * servo.gear * (std::abs(v[i]) + 1.0));
      EXPECT_NEAR(impulse[i], h * f, 1e-9 * h * std::abs(f) + h * noise + 1e-11) << "case " << k;
      const double before = force_at(servo, s.u[i], s.q[i], s.v[i]);
      limits += f == servo.gear * servo.low || f == servo.gear * servo.high;
      decided_later += before != f && (before == servo.gear * servo.low || before == servo.gear * servo.high);
    }
  }
  EXPECT_GT(limits, 300);
  EXPECT_GT(decided_later, 150);
}

TEST(saturable_servos, that_only_brake_never_add_energy) {
  std::mt19937 random(8);
  for (int k = 0; k < 60; ++k) {
    const Sample s = sample(random, 5, true);
    const Model model = build(sliders(s.servos, s.masses));
    const MatrixX M = mass_matrix(model, s.q);
    for (const double h : {1e-3, 1e-2, 0.1}) {
      const Simulation simulation(model, {.dt = h});
      VectorX q = s.q, v = s.v;
      for (int i = 0; i < 30; ++i) {
        const Step step = step_from(simulation, q, v, s.u);
        const double before = v.dot(M * v), after = step.next.v.dot(M * step.next.v);
        ASSERT_LE(after, before * (1 + 1e-12) + 1e-24) << "case " << k << ", step " << i;
        q = step.next.q;
        v = step.next.v;
      }
    }
  }
}

TEST(saturable_servos, with_limits_far_away_are_those_without_to_the_bit) {
  std::mt19937 random(4);
  for (int k = 0; k < 20; ++k) {
    Sample s = sample(random, 4, false);
    for (Servo& servo : s.servos) servo.low = servo.joint_low = -1e12, servo.high = servo.joint_high = 1e12;
    std::vector<Servo> without = s.servos;
    for (Servo& servo : without) servo.high = servo.joint_high = infinity;
    const Simulation with_limits(build(sliders(s.servos, s.masses)), {.dt = 0.01}),
        no_limits(build(sliders(without, s.masses)), {.dt = 0.01});
    EXPECT_EQ(step_from(with_limits, s.q, s.v, s.u).next.v, step_from(no_limits, s.q, s.v, s.u).next.v);
  }
}

// Ends of ranges stop joints: M (v+ - v) - h f(v+) is what they push, and only where the joint is at an end.
TEST(saturable_servos, are_decided_by_the_velocity_that_contact_leaves) {
  const double h = 0.01;
  std::mt19937 random(12);
  int stopped = 0, turned = 0;
  for (int k = 0; k < 400; ++k) {
    Sample s = sample(random, 4, false);
    for (int i = 0; i < 4; ++i) s.servos[i].range = Vector2(s.q[i] - 0.004, s.q[i] + 0.004);
    const Model model = build(sliders(s.servos, s.masses));
    const Simulation simulation(model, {.dt = h, .contact = k % 2 == 0 ? Contact::lcp : Contact::ncp});
    const Step step = step_from(simulation, s.q, s.v, s.u);
    const Step again = simulation.step(step.start, s.u, step.warm);
    EXPECT_EQ(step.next.v, again.next.v) << "case " << k;
    EXPECT_LT(step.report.residual, 1e-9);
    const VectorX v = step.next.v, impulse = mass_matrix(model, s.q) * (v - s.v);
    for (int i = 0; i < 4; ++i) {
      const Servo& servo = s.servos[i];
      const double f = force_at(servo, s.u[i], s.q[i], v[i]);
      const double noise = h * 1e-10 * (1.0 + servo.kv * servo.gear * servo.gear * (std::abs(v[i]) + 1.0));
      const double push = impulse[i] - h * f, slack = 1e-9 * (1.0 + std::abs(h * f)) + noise;
      EXPECT_LE(std::abs(v[i]), 0.4 + 1e-9);
      if (v[i] < 0.4 - 1e-7) EXPECT_GT(push, -slack) << "case " << k;
      if (v[i] > -0.4 + 1e-7) EXPECT_LT(push, slack) << "case " << k;
      stopped += std::abs(v[i]) > 0.4 - 1e-7;
      turned += (force_at(servo, s.u[i], s.q[i], s.v[i]) == servo.gear * servo.high) !=
                (f == servo.gear * servo.high);
    }
  }
  EXPECT_GT(stopped, 200);
  EXPECT_GT(turned, 50);
}

// A rod on a carriage without friction, its tip on the ground before it, and a servo that brakes it at its
// hinge: pushed down, the tip sticks and lifts the carriage, or does not, and more than one motion obeys the
// laws of contact alone (Painleve).
Model rod_on_the_ground(double slope, double h) {
  const std::string text = fmt::format(R"(
<mujoco><option gravity="0 0 0" timestep="{}"/><compiler angle="radian"/><worldbody>
  <geom type="plane" size="5 5 1" friction="2"/>
  <body pos="0 0 {}">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".05" mass=".05" contype="0" conaffinity="0"/>
    <body euler="0 {} 0"><joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size=".02" mass="1" contype="0" conaffinity="0"/>
      <geom type="sphere" pos="1 0 0" size=".05" mass=".001"/>
  </body></body></worldbody>
  <actuator><velocity joint="hinge" kv="500" forcerange="-10 10"/></actuator></mujoco>)",
                                       h, std::sin(slope) + 0.05, slope);
  return build(parse_mjcf(text));
}

// M (v+ - v) + h c = h f(v+) + J^T lam by hand: the slides feel lam alone.
void expect_laws_of_rod(const Model& model, const Step& step, double slope, double h) {
  const double mu = 2.0, kv = 500.0, limit = 10.0, slack = 1e-9;
  const VectorX &v = step.start.v, &v_next = step.next.v;
  const MatrixX M = mass_matrix(model, step.start.q);
  const Vector3 bias = v[2] * v[2] * Vector3(M(1, 2), -M(0, 2), 0.0);
  const Vector3 impulse = M * (v_next - v) + h * bias;
  const double x = std::cos(slope), z = -std::sin(slope) - 0.05;  // of the point that touches, from the hinge
  const double normal = impulse[1], friction = impulse[0];
  const double rises = v_next[1] - v_next[2] * x, slides = v_next[0] + v_next[2] * z;
  EXPECT_NEAR(impulse[2], h * limited(-kv * v_next[2], -limit, limit) + z * friction - x * normal, slack);
  EXPECT_GE(normal, -slack);
  EXPECT_GE(rises, -slack);
  EXPECT_LE(std::min(normal, rises), slack);
  EXPECT_LE(std::abs(friction), mu * normal + slack);
  if (std::abs(slides) > 1e-7) EXPECT_NEAR(friction, std::copysign(mu * normal, -slides), slack);
}

TEST(saturable_servos, are_decided_together_with_contacts_that_leave_several_motions) {
  const double h = 1e-3, slope = 1.0;
  const Model model = rod_on_the_ground(slope, h);
  int at_limit = 0, several = 0;
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.dt = h, .contact = law});
    for (int i = 0; i < 16; ++i) {
      for (int k = 0; k < 13; ++k) {
        SCOPED_TRACE(fmt::format("{}, speed {}, turn {}", law == Contact::lcp ? "lcp" : "ncp", i, k));
        const Vector3 v(0.02 * i, 0.0, 0.05 * (k - 6));
        const Step step = step_from(simulation, neutral_state(model).q, v, VectorX::Zero(1));
        for (const Step& each : {step, simulation.step(step.start, VectorX::Zero(1), step.warm)}) {
          EXPECT_NE(each.report.contact, SolveStatus::inexact);
          expect_laws_of_rod(model, each, slope, h);
        }
        at_limit += std::abs(500.0 * step.next.v[2]) >= 10.0;
        several += step.report.contact == SolveStatus::multiple;
      }
    }
  }
  EXPECT_GT(at_limit, 50);
  EXPECT_GT(several, 3);
}

// Two links touch the ground where they hang together: how they share what holds them there is not told by
// their normals, but their friction moves them by it.
constexpr const char* arm_on_the_ground = R"(
<mujoco><default><geom friction="2"/></default><worldbody>
  <geom type="plane" size="5 5 1"/>
  <body pos="0 0 0.162"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/>
    <body euler="0 27.9 -7.3"><joint name="j0" axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 .5 0 0" size=".04" mass="1"/>
      <body pos="0.5 0 0" euler="0 -37.7 -1"><joint name="j1" axis="1 0 0" frictionloss="1"/>
        <geom type="capsule" fromto="0 0 0 .5 0 0" size=".04" mass="0.3"/>
  </body></body></body></worldbody>
  <actuator><velocity joint="j0" kv="50" gear="3" forcerange="-1 20"/>
    <velocity joint="j1" kv="5" forcerange="-1 1"/></actuator></mujoco>)";

TEST(saturable_servos, are_decided_together_with_how_contacts_share_loads_and_their_modes_can_be_held) {
  const double h = 1e-3;
  const Description d = parse_mjcf(arm_on_the_ground);
  std::mt19937 random(5);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene(d, h, law);
    scene.input.controls = VectorX::Zero(2);
    const Simulation simulation(scene.model,
                                {.dt = h, .contact = law == FrictionLaw::cone ? Contact::ncp : Contact::lcp});
    for (int i = 0; i < 10; ++i) {
      SCOPED_TRACE(fmt::format("{}, speed {}", law == FrictionLaw::cone ? "ncp" : "lcp", i));
      scene.state.v << -1.25, -1.11, 0.07, 1.99, 0.06, 0.7, 0.8 * i - 4.0, 0.3;
      const Step step = step_from(simulation, scene.state.q, scene.state.v, scene.input.controls);
      EXPECT_NE(step.report.contact, SolveStatus::inexact);
      EXPECT_LT(step.report.residual, 1e-9);
      EXPECT_EQ(simulation.step(step.start, step.input, step.warm).next.v, step.next.v);
      DisturbedStep disturbed(scene);
      const StepInputs& at = disturbed.layout();
      for (const auto& [begin, size] : {std::pair(at.q, 8), std::pair(at.v, 8), std::pair(at.control, 2)}) {
        VectorX dz = VectorX::Zero(at.size);
        dz.segment(begin, size) = uniform_vector(random, size);
        const VectorX dx = disturbed.along(dz), reference = disturbed.difference_along(dz);
        EXPECT_LT((dx - reference).cwiseAbs().maxCoeff(),
                  1e-7 * std::max(1.0, reference.cwiseAbs().maxCoeff()));
      }
    }
  }
}

// Saturated, within, and within only at the end of the step: with the modes held, and of the step as it is.
TEST(saturable_servos, have_exact_derivatives) {
  std::mt19937 random(21);
  int sides[3] = {};
  for (int k = 0; k < 12; ++k) {
    Sample s = sample(random, 4, false);
    for (Servo& servo : s.servos) servo.kv = std::min(servo.kv, 1e3);
    if (k % 2 == 1) s.servos[2].range = Vector2(s.q[2] - 0.004, s.q[2] + 0.004);
    const Description d = sliders(s.servos, s.masses);
    Scene scene(d, 0.01, k % 4 < 2 ? FrictionLaw::cone : FrictionLaw::pyramid);
    scene.state.q = s.q;
    scene.state.v = s.v;
    scene.input.controls = s.u;
    scene.input.forces = VectorX::Zero(4);
    DisturbedStep step(scene);
    const StepInputs& at = step.layout();
    std::vector<VectorX> directions;
    for (const auto& [begin, size] : {std::pair(at.q, 4), std::pair(at.v, 4), std::pair(at.control, 4)}) {
      VectorX dz = VectorX::Zero(at.size);
      dz.segment(begin, size) = uniform_vector(random, size);
      directions.push_back(dz);
    }
    for (const ParameterKind kind : {ParameterKind::gains, ParameterKind::inertia, ParameterKind::dt})
      directions.push_back(parameter_direction(scene.model, at, kind, random));
    for (size_t i = 0; i < directions.size(); ++i) {
      const VectorX &dz = directions[i], dx = step.along(dz), reference = step.difference_along(dz);
      EXPECT_LT((dx - reference).cwiseAbs().maxCoeff(), 1e-7 * std::max(1.0, reference.cwiseAbs().maxCoeff()))
          << "case " << k << ", direction " << i;
      const VectorX x_bar = uniform_vector(random, step.outputs());
      EXPECT_NEAR(step.against(x_bar).dot(dz), x_bar.dot(dx), 1e-9 * (1.0 + dx.norm()));
    }
    const Simulation simulation(build(d), {.dt = 0.01});
    const Step taken = step_from(simulation, s.q, s.v, s.u);
    StepJacobians exact, differences;
    simulation.jacobians(taken, {}, exact);
    simulation.jacobians(taken, {.mode = GradientMode::finite_difference, .ridders = true}, differences);
    EXPECT_LT((exact.by_state - differences.by_state).cwiseAbs().maxCoeff(), 1e-6) << "case " << k;
    EXPECT_LT((exact.by_control - differences.by_control).cwiseAbs().maxCoeff(), 1e-6) << "case " << k;
    for (int i = 0; i < 4; ++i) {
      const double f = force_at(s.servos[i], s.u[i], s.q[i], taken.next.v[i]);
      const bool at_end = f == s.servos[i].gear * s.servos[i].low || f == s.servos[i].gear * s.servos[i].high;
      const double now = force_at(s.servos[i], s.u[i], s.q[i], s.v[i]);
      const bool at_end_now =
          now == s.servos[i].gear * s.servos[i].low || now == s.servos[i].gear * s.servos[i].high;
      ++sides[at_end ? 0 : at_end_now ? 2 : 1];
    }
  }
  for (const int count : sides) EXPECT_GT(count, 2);
}

}  // namespace
}  // namespace articula::testing::saturation_test
