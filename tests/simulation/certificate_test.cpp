// What certificates say of gradients that exist from one side only, beside ones that exist.

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula::testing {
namespace {

// Differences of v+ along a dof, to one side less to the other.
double kink(const Simulation& simulation, const State& start, int dof, int output) {
  const double step = 1e-7;
  const Model& model = simulation.model();
  VectorX unit = VectorX::Zero(model.nv());
  unit[dof] = 1.0;
  const auto at = [&](double t) {
    State x = start;
    integrate(model, start.q, unit, t, x.q);
    return simulation.step(x).next.v[output];
  };
  return (at(step) - 2.0 * at(0.0) + at(-step)) / step;
}

// A cube turned about z meets a fixed one of the same height with an upright edge; its lower corner pushes.
constexpr const char* edge_on_face = R"(<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <geom type="box" size="0.05 0.2 0.05"/>
    <body pos="0.1207106781186548 0 0"><freejoint/>
      <geom type="box" size="0.05 0.05 0.05" euler="0 0 45" mass="1"/></body>
  </worldbody></mujoco>)";

TEST(certificates, tell_of_corners_over_edges_where_they_matter) {
  for (const Contact contact : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(build(parse_mjcf(edge_on_face)), {.contact = contact});
    State start = neutral_state(simulation.model());
    start.v[0] = -0.1;
    start.v[4] = 5.0;  // the lower corner approaches, the upper one parts
    const auto flagged = [&](const State& x) {
      const Step step = simulation.step(x);
      EXPECT_EQ(simulation.pullback(step, {.v = VectorX::Ones(6)}).certificate.one_sided,
                simulation.jacobians(step).certificate.one_sided);
      return simulation.jacobians(step).certificate.one_sided;
    };
    EXPECT_TRUE(flagged(start));
    EXPECT_GT(std::abs(kink(simulation, start, 2, 4)), 0.1);
    start.q[2] = 0.01;  // the lower corner over the face
    EXPECT_FALSE(flagged(start));
    EXPECT_LT(std::abs(kink(simulation, start, 2, 4)), 1e-3);
  }
}

TEST(certificates, are_silent_about_corners_over_edges_that_do_not_matter) {
  // Equal cubes on top of each other, at rest: all corners are over edges, and nothing moves.
  const Simulation simulation(build(parse_mjcf(R"(<mujoco>
    <option timestep="0.01"/>
    <worldbody>
      <geom type="plane" size="1 1 1"/>
      <body pos="0 0 0.05"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
      <body pos="0 0 0.15"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
    </worldbody></mujoco>)")));
  const Step step = simulation.step(neutral_state(simulation.model()));
  EXPECT_FALSE(simulation.jacobians(step).certificate.one_sided);
}

TEST(certificates, tell_of_parameters_that_a_planar_robot_cannot_follow) {
  // Standing still: tilted out of its plane its foot would have to slide sideways.
  for (const Contact contact : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(build(parse_mjcf(R"(<mujoco>
      <option timestep="0.01"/>
      <worldbody>
        <geom type="plane" size="1 1 1"/>
        <body name="foot" pos="0 0 0.1">
          <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
          <geom type="sphere" size="0.1" mass="1"/></body>
      </worldbody></mujoco>)")),
                                {.contact = contact});
    State start = neutral_state(simulation.model());
    start.v[2] = 0.02;  // it rolls slowly, and sticks
    start.v[0] = 0.002;
    const Step step = simulation.step(start);
    const auto flagged = [&](const char* parameters) {
      GradientSettings settings;
      settings.parameters = simulation.model().parameters().matching(parameters);
      EXPECT_FALSE(settings.parameters.empty()) << parameters;
      return simulation.pullback(step, {.v = VectorX::Ones(3)}, settings).certificate.one_sided;
    };
    EXPECT_FALSE(simulation.jacobians(step).certificate.one_sided);
    EXPECT_FALSE(flagged("body/*/inertia"));
    EXPECT_TRUE(flagged("joint/*/axis"));
  }
}

TEST(certificates, tell_of_contacts_that_touch_and_carry_nothing) {
  // Two balls side by side fall together, touching.
  const auto one_sided = [](double apart) {
    const Simulation simulation(build(parse_mjcf(R"(<mujoco>
      <option timestep="0.01"/>
      <worldbody>
        <body pos="0 0 1"><freejoint/><geom type="sphere" size="0.125" mass="1"/></body>
        <body pos="0.25 0 1"><freejoint/><geom type="sphere" size="0.125" mass="1"/></body>
      </worldbody></mujoco>)")));
    State start = neutral_state(simulation.model());
    start.q[7] += apart;
    return simulation.jacobians(simulation.step(start)).certificate.one_sided;
  };
  EXPECT_TRUE(one_sided(0.0));
  EXPECT_FALSE(one_sided(1e-3));
  EXPECT_FALSE(one_sided(-1e-5));
}

}  // namespace
}  // namespace articula::testing
