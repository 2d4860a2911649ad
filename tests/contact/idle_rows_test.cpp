// What parts has no row, and a row after all where impulses turn it round.

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/simulation/disturbed_step.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::idle_rows_test {
namespace {

// A bar that turns: its left end hits the floor, its right end, just above the floor, rises. The impulse at
// the left reverses the turning, and the right end would pass through the floor within the same step.
TEST(idle_rows, an_end_that_an_impact_turns_round_stops_at_the_floor) {
  for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Description d = empty_world();
    add_floor(d, {.friction = 0.0});
    add_box(d, "bar", {0.5, 0.01, 0.01}, 1.0, {0, 0, 0.0101}, {.friction = 0.0});
    Scene scene(d, 0.001, law);
    scene.velocity(0)[2] = -1.0;
    scene.state.v[4] = 4.0;  // about y: the end at +x falls, at -x rises
    const double rising = -1.0 + 4.0 * 0.5, falling = -1.0 - 4.0 * 0.5;
    ASSERT_GT(rising, 0.5);
    ASSERT_LT(falling, -0.5);
    scene.step();
    // Both ends rest on the floor: neither below it, none thrown up by an impulse that pulls.
    const double tilt = 0.5 * std::abs(scene.state.v[4]);
    EXPECT_GE(scene.velocity(0)[2] - tilt, -0.1 - 1e-9) << "the gap of 0.1 mm over 1 ms";
    EXPECT_EQ(scene.report.contact, SolveStatus::solved);
    for (int i = 0; i < 50; ++i) {
      scene.step();
      EXPECT_LT(scene.report.deepest, 1e-6);
    }
  }
}

// However fast a robot falls, and with it all pairs of its parts that are near each other: modes that are
// held need no rows for what parts.
TEST(idle_rows, are_none_of_a_step_with_its_modes_held) {
  const Model model = load("quadruped");
  DisturbedStep step(model, {.contact = Contact::ncp});
  State state = neutral_state(model);
  state.q[2] += 10.0;
  state.v[2] = -30.0;
  ASSERT_TRUE(step.begin(state, {}));
  const int rows = step.report().rows;
  VectorX x(step.outputs());
  step.hold_modes(true);
  ASSERT_TRUE(step.at(VectorX::Zero(step.layout().size), 0.0, x));
  EXPECT_GT(step.report().contacts, 10) << "the case that this is about";
  EXPECT_EQ(step.report().rows, rows);
}

// A ball at rest that is hit flies against a wall within the step: nothing but the impact told that it would.
TEST(idle_rows, are_found_where_impulses_lead_with_modes_held_too) {
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
      <geom type="plane" size="5 5 1" zaxis="-1 0 0" pos="0.055 0 0"/>
      <body pos="-0.5 0 0"><joint type="slide" axis="1 0 0"/><geom size="0.1" mass="5" pos="0.349 0 0"/></body>
      <body><joint type="slide" axis="1 0 0"/><geom size="0.05" mass="0.1"/></body>
      </worldbody></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    DisturbedStep step(model, {.contact = law});
    State state = neutral_state(model);
    state.v[0] = 10.0;
    ASSERT_TRUE(step.begin(state, {}));
    EXPECT_NEAR(step.end().v[1], 0.005 / 0.002, 1e-9) << "the ball ends at the wall";
    VectorX x(step.outputs());
    step.hold_modes(true);
    ASSERT_TRUE(step.at(VectorX::Zero(step.layout().size), 0.0, x));
    EXPECT_NEAR(x[3], step.end().v[1], 1e-9);
  }
}

// Without an impulse their law holds where they part; their contacts are listed all the same.
TEST(idle_rows, part_in_every_step) {
  std::mt19937 random(7);
  int left_out = 0;
  for (const char* name : {"humanoid", "quadruped", "biped", "boxes_and_balls", "ant"}) {
    const Model model = load(name);
    for (Contact contact : {Contact::lcp, Contact::ncp}) {
      const Simulation simulation(model, {.contact = contact});
      Step step;
      step.next = neutral_state(model);
      for (int i = 0; i < 300; ++i) {
        step.input.controls = uniform_vector(random, model.nu(), 0.5);
        simulation.step(step.next, step.input, step);
        ASSERT_TRUE(step.ok());
        const Simulation::Lease workspace(simulation, step.serial);
        const ContactRows& rows = workspace->contact->rows;
        left_out += static_cast<int>(rows.idle().size());
        for (const IdleRow& row : rows.idle()) EXPECT_GE(row.velocity, 0.0) << name;
        // Contacts are listed all the same.
        EXPECT_EQ(
            step.contacts.size(),
            static_cast<size_t>(std::count_if(rows.items().begin(), rows.items().end(),
                                              [](const Item& i) { return i.kind == RowKind::contact; }) +
                                std::count_if(rows.idle().begin(), rows.idle().end(),
                                              [](const IdleRow& i) { return i.kind == RowKind::contact; })));
      }
    }
  }
  EXPECT_GT(left_out, 1000);
}

TEST(idle_rows, are_reported_where_they_overlap) {
  Description d = empty_world();
  add_floor(d);
  add_ball(d, "ball", 0.1, 1.0, {0, 0, 0.099});
  Scene scene(d, 0.001);
  scene.velocity(0)[2] = 5.0;
  scene.step();
  EXPECT_EQ(scene.report.rows, 0);
  EXPECT_NEAR(scene.report.deepest, 0.001, 1e-12);
}

// Ends of tendons and ball joints that the step reaches only because something hits them.
TEST(idle_rows, of_ball_joints_and_tendons_are_called_when_they_are_passed) {
  const Model model = build(parse_mjcf(R"(<mujoco>
    <option gravity="0 0 0" timestep="0.001"/>
    <worldbody>
      <body name="arm"><joint name="ball" type="ball" range="0 0.001" limited="true"/>
        <geom type="sphere" size="0.05" pos="0 0 0.5" mass="0.1"/></body>
      <body name="slide" pos="3 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
        <geom type="sphere" size="0.05" mass="0.1"/></body>
      <body name="hammer" pos="-0.1 0 0.5"><freejoint/><geom type="sphere" size="0.05" mass="10"/></body>
      <body name="second" pos="2.9 0 0"><freejoint/><geom type="sphere" size="0.05" mass="10"/></body>
    </worldbody>
    <tendon><fixed name="t" limited="true" range="-1 0.001"><joint joint="slide" coef="1"/></fixed></tendon>
  </mujoco>)"));
  for (Contact contact : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = contact});
    State state = neutral_state(model);
    state.q[2] = std::sin(0.5 * 0.0005);  // about y: where it is going to turn
    state.q[0] = std::cos(0.5 * 0.0005);
    state.v[4] = 10.0;   // the hammer's x
    state.v[10] = 10.0;  // the second's
    const Step step = simulation.step(state);
    ASSERT_TRUE(step.ok());
    EXPECT_LE(step.next.q[4], 0.001 + 1e-9) << "the slide's tendon";
    const double turn = 2.0 * std::asin(step.next.q.segment<3>(1).norm());
    EXPECT_LE(turn, 0.001 + 1e-6) << "the ball joint";
  }
}

}  // namespace
}  // namespace articula::testing::idle_rows_test
