// Closed loops stay closed: to rounding at rest, to second order in the step in motion.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/io/paths.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula::loops_test {
namespace {

double opening(const Step& step) {
  double worst = 0.0;
  for (const StepLoop& loop : step.loops) worst = std::max(worst, (loop.position_a - loop.position_b).norm());
  return worst;
}

// h |Jdot v| along the loops' rows: how the velocities along them change while q goes from one step to the
// next.
double curvature(const ContactRows& before, const ContactRows& after, const VectorX& v) {
  std::vector<double> old(before.size()), now(after.size());
  before.velocities(v, old.data());
  after.velocities(v, now.data());
  double worst = 0.0;
  for (const Item& item : after.items()) {
    if (item.kind != RowKind::equality || item.rows < 3) continue;
    const Item* same = nullptr;
    for (const Item& other : before.items())
      if (other.key == item.key) same = &other;
    if (same == nullptr) continue;
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double change = now[after.row_of(item) + k] - old[before.row_of(*same) + k];
      square += change * change;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

struct Run {
  double dt = 0.001;
  int closing = 0, moving = 1000, resting = 3000;  // steps
  double brake = 0.5;                              // N m s/rad, while it comes to rest
};

// Closes what the start leaves open, moves, and comes to rest under a brake.
void check_loops(const Model& model, const State& x, const VectorX& controls, const Run& run) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    SCOPED_TRACE(to_string(law));
    const SimulationSettings settings = complete(model, {.dt = run.dt, .contact = law});
    StepWorkspace workspaces[] = {StepWorkspace(model, settings), StepWorkspace(model, settings)};
    Step step;
    step.next = x;
    step.input.controls = controls;
    for (int i = 0; i < run.closing; ++i) workspaces[1].step(step.next, step.input, step);
    double fastest = 0.0, widest = 0.0;
    for (int i = 0; i < run.moving; ++i) {
      StepWorkspace &now = workspaces[i % 2], &before = workspaces[1 - i % 2];
      const VectorX v = step.next.v;
      now.step(step.next, step.input, step);
      ASSERT_TRUE(step.ok());
      ASSERT_GT(step.loops.size(), 0u);
      fastest = std::max(fastest, v.lpNorm<Eigen::Infinity>());
      widest = std::max(widest, opening(step));
      if (i > 0)
        ASSERT_LE(opening(step), run.dt * curvature(before.contact->rows, now.contact->rows, v) + 1e-10) << i;
    }
    EXPECT_GT(fastest, 1.0) << "it moves";
    EXPECT_GT(widest, 1e-9) << "not trivially closed";
    step.input.controls.setZero();
    for (int i = 0; i < run.resting; ++i) {
      step.input.forces = -run.brake * step.next.v;
      workspaces[0].step(step.next, step.input, step);
    }
    ASSERT_TRUE(step.ok());
    EXPECT_LT(step.next.v.lpNorm<Eigen::Infinity>(), 2e-2);
    EXPECT_LT(opening(step), 1e-8);
  }
}

TEST(loops, of_a_four_bar_linkage_stay_closed) {
  const Model model = load("four_bar");
  check_loops(model, neutral_state(model), VectorX::Constant(model.nu(), 6.0), {.resting = 30000});
}

// What it drifts by in a step is more than recovery_speed would take back.
TEST(loops, of_a_rod_that_whirls_about_a_pin_stay_closed) {
  const Model model = build(parse_mjcf(R"(
    <mujoco>
      <option timestep="0.002" gravity="0 0 -9.81"/>
      <worldbody>
        <body name="rod">
          <freejoint/>
          <geom type="capsule" fromto="-0.3 0 0 0.3 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
        </body>
      </worldbody>
      <equality><connect body1="rod" anchor="-0.3 0 0"/></equality>
    </mujoco>)"));
  State x = neutral_state(model);
  constexpr double speed = 40.0;  // rad/s about z: 480 m/s^2 at the centre
  x.v[1] = 0.3 * speed;
  x.v[5] = speed;
  check_loops(model, x, VectorX::Zero(0), {.dt = 0.002, .resting = 40000, .brake = 0.05});
}

// Out of every coordinate plane, so that no row of the loop is empty.
TEST(loops, of_a_tilted_four_bar_linkage_that_races_stay_closed) {
  const Model model = build(parse_mjcf(R"(
    <mujoco>
      <compiler angle="radian"/>
      <default>
        <joint axis="0 1 0"/>
        <geom type="capsule" size="0.01" contype="0" conaffinity="0"/>
      </default>
      <worldbody>
        <body pos="0 0 1" euler="0.5 0 0.2">
          <body>
            <joint name="crank" armature="0.001"/>
            <geom fromto="0 0 0 0 0 0.1" mass="0.1"/>
            <body name="coupler" pos="0 0 0.1">
              <joint/>
              <geom fromto="0 0 0 0.4 0 0.2" mass="0.25"/>
            </body>
          </body>
          <body name="rocker" pos="0.4 0 0">
            <joint damping="0.01"/>
            <geom fromto="0 0 0 0 0 0.3" mass="0.2"/>
          </body>
        </body>
      </worldbody>
      <equality><connect body1="coupler" body2="rocker" anchor="0.4 0 0.2"/></equality>
      <actuator><velocity joint="crank" kv="0.3"/></actuator>
    </mujoco>)"));
  const VectorX speed = VectorX::Constant(1, 120.0);  // rad/s
  check_loops(model, neutral_state(model), speed, {.dt = 0.002, .moving = 500, .resting = 40000});
}

// A planar linkage on a box that flies: its loop is closed in space, and one of its three rows says nothing.
Model flying_linkage() {
  return build(parse_mjcf(R"(
    <mujoco>
      <option timestep="0.003" gravity="0 0 0"/>
      <default>
        <joint axis="0 1 0" damping="0.05"/>
        <geom contype="0" conaffinity="0"/>
      </default>
      <worldbody>
        <body name="base">
          <freejoint/>
          <geom type="box" size="0.25 0.1 0.04" mass="3"/>
          <body name="rocker" pos="0.15 0 0.05">
            <joint/>
            <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" mass="0.3"/>
          </body>
          <body pos="-0.15 0 0.05">
            <joint/>
            <geom type="capsule" fromto="0 0 0 0 0 0.12" size="0.02" mass="0.3"/>
            <body name="bar" pos="0 0 0.12">
              <joint/>
              <geom type="capsule" fromto="0 0 0 0.3 0 0.18" size="0.02" mass="0.3"/>
            </body>
          </body>
        </body>
      </worldbody>
      <equality><connect body1="bar" body2="rocker" anchor="0.3 0 0.18"/></equality>
    </mujoco>)"));
}

State flying(const Model& model, double speed) {
  State x = neutral_state(model);
  x.q.segment<4>(3) = Eigen::Vector4d(0.9, 0.3, -0.2, 0.1).normalized();
  x.v << 0.1, 0.2, -0.1, 0.5, 1.5, -0.8, speed, -0.7 * speed, 0.4 * speed;
  return x;
}

// What both bodies of a loop ride on moves no row of it, however far it is open: impulses keep the momentum.
TEST(loops, are_not_moved_by_the_base_that_they_ride_on) {
  const Model model = flying_linkage();
  StepWorkspace workspace(model, complete(model, {}));
  State x = flying(model, 3.0);
  x.q[7] += 0.01;  // 3 mm
  Step step;
  workspace.step(x, {}, step);
  ASSERT_GT((step.loops[0].position_a - step.loops[0].position_b).norm(), 2e-3);
  const ContactRows& rows = workspace.contact->rows;
  std::vector<double> velocity(rows.size());
  for (int d = 0; d < 6; ++d) {
    rows.velocities(VectorX::Unit(model.nv(), d), velocity.data());
    for (const Item& item : rows.items()) {
      if (item.kind != RowKind::equality) continue;
      for (int i = 0; i < item.rows; ++i) EXPECT_NEAR(velocity[rows.row_of(item) + i], 0.0, 1e-15) << d;
    }
  }
}

TEST(loops, of_a_planar_linkage_hold_in_its_plane_alone_wherever_it_flies) {
  const Model model = flying_linkage();
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    for (const double speed : {1.0, 4.0, 10.0}) {
      const Simulation simulation(model, {.contact = law});
      Step step;
      step.next = flying(model, speed);
      for (int i = 0; i < 200; ++i) {
        simulation.step(step.next, step.input, step);
        ASSERT_EQ(step.report.contact, SolveStatus::solved) << speed << " " << i;
        if (i > 0) ASSERT_LT(step.loops[0].impulse.norm(), 0.05) << speed << " " << i;
        ASSERT_FALSE(simulation.jacobians(step).certificate.one_sided) << speed << " " << i;
      }
    }
  }
}

// No faster than recovery_speed, and straight.
TEST(loops, that_start_open_close_along_their_error) {
  const Model model = build(parse_mjcf(R"(
    <mujoco>
      <option gravity="0 0 0"/>
      <worldbody>
        <body name="ball" pos="0.03 0.02 0.01">
          <freejoint/>
          <geom type="sphere" size="0.05" mass="1" contype="0" conaffinity="0"/>
        </body>
      </worldbody>
      <equality><connect body1="ball" anchor="0 0 0"/></equality>
    </mujoco>)"));
  State x = neutral_state(model);
  x.q.head<3>() += Vector3(0.03, 0.02, 0.01);
  const Simulation simulation(model, {.dt = 0.002, .recovery_speed = 0.2});
  const Vector3 v = simulation.step(x).next.v.head<3>();
  EXPECT_LT((v + 0.2 * Vector3(3, 2, 1).normalized()).norm(), 1e-12) << v.transpose();
}

TEST(loops, of_cassie_stay_closed) {
  const auto shared = shared_models_directory();
  if (!shared) GTEST_SKIP() << "no shared models";
  const Model model = load((*shared / "mjcf/agility_cassie/scene.xml").string());
  State x = neutral_state(model);
  for (const KeyframeDescription& key : model.description().keyframes)
    if (key.name == "home") x.q = Eigen::Map<const VectorX>(key.q.data(), model.nq());
  check_loops(model, x, VectorX::Zero(model.nu()),
              {.closing = 100, .moving = 400, .resting = 4000, .brake = 0.01});
}

// Its zero pose violates limits that its loops hold where they are: recovery must not tear it apart.
TEST(loops, of_cassie_survive_a_start_beyond_its_limits) {
  const auto shared = shared_models_directory();
  if (!shared) GTEST_SKIP() << "no shared models";
  const Model model = load((*shared / "mjcf/agility_cassie/scene.xml").string());
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    SCOPED_TRACE(to_string(law));
    Simulation simulation(model, {.dt = 0.002, .contact = law});
    Step step;
    step.next = neutral_state(model);
    for (int i = 0; i < 1000; ++i) {
      simulation.step(step.next, step.input, step);
      ASSERT_LT(step.report.contact, SolveStatus::inexact) << i;
      ASSERT_LT(step.next.v.lpNorm<Eigen::Infinity>(), 500.0) << i;
    }
    EXPECT_LT(step.next.v.lpNorm<Eigen::Infinity>(), 5.0);
    EXPECT_LT(opening(step), 1e-4);
  }
}

// A robot with a loop, far from the world's origin: no digit of how its joints move is lost there.
TEST(loops, close_alike_wherever_a_robot_is) {
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.001"/><worldbody>
      <body name="base"><freejoint/><geom size="0.05" mass="2"/>
        <body name="a" pos="0.1 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0.2" size="0.01"/></body>
        <body name="b" pos="-0.1 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 0.3" size="0.01"/>
          <body name="c" pos="0.1 0 0.3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 -0.1" size="0.01"/></body></body>
      </body></worldbody>
      <contact><exclude body1="a" body2="c"/><exclude body1="a" body2="b"/></contact>
      <equality><connect body1="a" body2="c" anchor="0.3 0 0.2"/></equality></mujoco>)"));
  const Simulation simulation(model, {.contact = Contact::ncp});
  const auto joints_after = [&](double x) {
    Step step;
    step.next = neutral_state(model);
    step.next.q[0] = x;
    step.next.v.tail(3) << 1.0, -0.3, 0.7;
    for (int i = 0; i < 100; ++i) simulation.step(step.next, step.input, step);
    return VectorX(step.next.v.tail(3));
  };
  const VectorX here = joints_after(0.0), there = joints_after(1000.0);
  EXPECT_GT(here.cwiseAbs().maxCoeff(), 0.1) << "the case that this is about";
  EXPECT_LE((here - there).cwiseAbs().maxCoeff(), 1e-14);
}

// Axes that are nearly parallel leave a loop next to no motion out of its plane: what its equations miss by
// is thousands of times as much in the joints.
TEST(loops, of_nearly_parallel_axes_are_met_to_rounding) {
  std::string links, ends;
  for (int i = 0; i < 6; ++i) {
    links += fmt::format(R"(<body pos="{} 0 {}"><joint axis="{} 1 0" damping=".05" frictionloss="{}"/>
                            <geom type="capsule" fromto="0 0 0 .16 0 0" size=".025" mass=".3"/>)",
                         i == 0 ? 0.0 : 0.16, i == 0 ? 0.25 : 0.0, 0.05 * i, 0.03 + 0.01 * i);
    ends += "</body>";
  }
  const std::size_t last = links.rfind("<body");
  links.insert(last + 5, R"( name="tip")");
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.002"/>
      <default><geom contype="0" conaffinity="0"/></default><worldbody>)" +
                                       links + ends + R"(
      <body name="base" pos=".96 0 .25"><joint type="slide" axis="1 0 0" damping="2"/>
        <geom type="box" size=".03 .03 .03" mass=".5"/></body></worldbody>
      <equality><connect body1="tip" body2="base" anchor=".16 0 0"/></equality></mujoco>)"));
  const Simulation simulation(model, {.contact = Contact::ncp});
  Step step;
  step.next = neutral_state(model);
  step.next.v.head(6) << 0.5, -0.8, 0.3, 0.6, -0.7, 0.4;
  double missed = 0.0;
  for (int i = 0; i < 200; ++i) {
    simulation.step(step.next, step.input, step);
    if (step.report.contact != SolveStatus::solved) continue;
    const Simulation::Lease workspace(simulation, step.serial);
    const ContactRows& rows = workspace->contact->rows;
    for (const Item& item : rows.items()) {
      for (int k = 0; k < item.rows && item.kind == RowKind::equality; ++k)
        if (rows.mode[rows.row_of(item) + k] == RowMode::hold)
          missed = std::max(missed, std::abs(rows.sigma[rows.row_of(item) + k]));
    }
  }
  EXPECT_LT(missed, 3e-14);
}

}  // namespace
}  // namespace articula::loops_test
