#include "articula/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/simulation/rollout.hpp"
#include "articula/simulation/snapshot.hpp"
#include "tests/support/allocations.hpp"

namespace articula::simulation_test {
namespace {

Model box_on_floor(const char* extra = "") {
  const std::string text = std::string(R"(<mujoco><option timestep="0.001"/><worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
    <body name="box" pos="0 0 0.1"><freejoint name="root"/>
      <geom name="cube" type="box" size="0.1 0.1 0.1" mass="2" friction="0.5"/>)") +
                           extra + "</body></worldbody></mujoco>";
  return build(parse_mjcf(text));
}

TEST(Simulation, the_forces_of_contacts_carry_the_weight) {
  const Model model = box_on_floor();
  const Simulation simulation(model);
  Step step = simulation.step(neutral_state(model));
  for (int i = 0; i < 50; ++i) step = simulation.step(step.next, Input{}, step.warm);
  ASSERT_TRUE(step.ok());
  ASSERT_EQ(step.contacts.size(), 4u);
  Vector3 force = Vector3::Zero(), torque = Vector3::Zero();
  for (const StepContact& contact : step.contacts) {
    EXPECT_EQ(contact_name(model, contact), "floor, cube");
    EXPECT_EQ(contact.mode, ContactMode::sticking);
    EXPECT_NEAR((contact.normal() - Vector3::UnitZ()).norm(), 0.0, 1e-12);
    EXPECT_NEAR((contact.force * simulation.dt() - contact.impulse).norm(), 0.0, 1e-15);
    force += contact.force;
    torque += contact.position.cross(contact.force);
  }
  EXPECT_NEAR((force - Vector3(0, 0, 2 * 9.81)).norm(), 0.0, 1e-9);
  EXPECT_NEAR(torque.norm(), 0.0, 1e-9);
}

TEST(Simulation, a_pushed_box_slides_with_friction_mu_against_the_push) {
  const Model model = box_on_floor();
  const Simulation simulation(model);
  State x = neutral_state(model);
  x.v[0] = 1.0;
  const Step step = simulation.step(x);
  Vector3 force = Vector3::Zero();
  for (const StepContact& contact : step.contacts) {
    force += contact.force;
    if (contact.mode != ContactMode::separating) EXPECT_EQ(contact.mode, ContactMode::sliding);
  }
  EXPECT_NEAR(force[0], -0.5 * force[2], 1e-9);
  EXPECT_NEAR(step.next.v[0], 1.0 + 0.001 * force[0] / 2.0, 1e-12);
}

// What a free joint transmits is nothing, whatever touches the robot; any force left out would show here.
TEST(Simulation, nothing_is_transmitted_through_the_free_joint_of_a_robot_in_contact) {
  for (const char* name : {"quadruped", "biped", "humanoid", "ant", "drone"}) {
    const Model model = load(name);
    for (const Contact law : {Contact::ncp, Contact::lcp, Contact::none}) {
      const Simulation simulation(model, {.contact = law});
      VectorX u = VectorX::Constant(model.nu(), 0.2);
      Step step = simulation.step(neutral_state(model), u);
      for (int i = 0; i < 100; ++i) step = simulation.step(step.next, u, step.warm);
      ASSERT_TRUE(step.ok());
      const Matrix6X reactions = joint_reactions(simulation, step);
      ASSERT_EQ(reactions.cols(), model.njoint());
      const double weight = 9.81 * model.total_mass();
      for (int j = 0; j < model.njoint(); ++j) {
        if (model.structure().joints[j].type != JointType::free) continue;
        EXPECT_LT(reactions.col(j).norm(), 1e-8 * weight) << name << " " << to_string(law);
      }
    }
  }
}

TEST(Simulation, the_joint_of_a_hanging_body_carries_its_weight_and_moment) {
  const Model model =
      build(parse_mjcf(R"(<mujoco><compiler angle="radian"/><option gravity="0 0 -10"/><worldbody>
    <body pos="0 0 2"><joint name="hinge" axis="0 1 0" range="-1 1" limited="true"/>
      <geom type="sphere" size="0.1" pos="0.5 0 0" mass="3"/></body></worldbody></mujoco>)"));
  const Simulation simulation(model, {.dt = 0.001});
  State x = neutral_state(model);
  x.q[0] = 1.0;  // rests on its upper limit: the arm points down and outward, gravity turns it further
  Step step = simulation.step(x);
  for (int i = 0; i < 200; ++i) step = simulation.step(step.next, Input{}, step.warm);
  const Matrix6X reactions = joint_reactions(simulation, step);
  EXPECT_NEAR(step.next.v.norm(), 0.0, 1e-9);
  const double lever = 0.5 * std::cos(step.next.q[0]);
  EXPECT_NEAR((reactions.col(0).head<3>() - Vector3(0, 0, 30)).norm(), 0.0, 1e-8);
  EXPECT_NEAR((reactions.col(0).tail<3>() - Vector3(0, -30 * lever, 0)).norm(), 0.0, 1e-6);
}

// The four-bar's loop is cut open in the tree: its joints feel the loop's force.
TEST(Simulation, reactions_of_a_closed_loop_balance_the_loop) {
  const Model model = load("four_bar");
  const Simulation simulation(model);
  Step step = simulation.step(neutral_state(model));
  for (int i = 0; i < 20; ++i) step = simulation.step(step.next, Input{}, step.warm);
  ASSERT_EQ(step.loops.size(), 1u);
  // All outer forces together: those through the joints on the world, the loop's (if it ends on the world),
  // and the weight make the momentum change.
  const Matrix6X reactions = joint_reactions(simulation, step);
  EXPECT_TRUE(reactions.allFinite());
  EXPECT_GT(step.loops[0].impulse.norm(), 0.0);
}

TEST(Simulation, a_step_depends_on_its_arguments_alone) {
  for (const char* name : {"half_cheetah", "quadruped", "humanoid", "four_bar", "arm"}) {
    const Model model = load(name);
    for (const Contact law : {Contact::ncp, Contact::lcp}) {
      const Simulation simulation(model, {.contact = law});
      const MatrixX u = 0.5 * MatrixX::Random(model.nu(), 300);
      const Rollout once = rollout(simulation, neutral_state(model), u);
      ASSERT_EQ(once.steps(), 300) << name;
      const Rollout again = rollout(simulation, neutral_state(model), u);
      EXPECT_EQ(state_hash(once.last()), state_hash(again.last())) << name << " " << to_string(law);
      const Rollout elsewhere = rollout(Simulation(model, {.contact = law}), neutral_state(model), u);
      EXPECT_EQ(state_hash(once.last()), state_hash(elsewhere.last())) << name << " " << to_string(law);
      // In two parts, in a workspace that has seen other things in between.
      const Rollout first = rollout(simulation, neutral_state(model), u.leftCols(150));
      rollout(simulation, neutral_state(model), -u.leftCols(50));
      const Rollout rest = rollout(simulation, first.last(), u.rightCols(150), first.warm);
      EXPECT_EQ(state_hash(once.last()), state_hash(rest.last())) << name << " " << to_string(law);
    }
  }
}

TEST(Simulation, threads_may_share_a_simulation) {
  const Model model = load("quadruped");
  const Simulation simulation(model);
  const MatrixX u = MatrixX::Constant(model.nu(), 200, 0.3);
  const std::uint64_t alone = state_hash(rollout(simulation, neutral_state(model), u).last());
  std::uint64_t hash[2] = {};
  std::thread other([&] { hash[0] = state_hash(rollout(simulation, neutral_state(model), u).last()); });
  hash[1] = state_hash(rollout(simulation, neutral_state(model), u).last());
  other.join();
  EXPECT_EQ(hash[0], alone);
  EXPECT_EQ(hash[1], alone);
}

TEST(Simulation, a_workspace_gives_a_variant_the_results_of_a_fresh_one) {
  for (const char* name : {"quadruped", "four_bar", "arm", "swimmer"}) {
    const Model model = load(name);
    VectorX theta = model.theta();
    for (const ParameterSlice& slice : model.parameters().slices()) {
      if (slice.kind == ParameterKind::friction || slice.kind == ParameterKind::damping ||
          slice.name.ends_with("/size") || slice.kind == ParameterKind::medium)
        theta.segment(slice.offset, slice.size) *= 0.9;
      if (slice.kind == ParameterKind::dry_friction) theta.segment(slice.offset, slice.size).array() += 0.1;
    }
    const Model variant = model.with(theta);
    const SimulationSettings settings{.dt = 0.002};
    const Simulation fresh(variant, settings);
    StepWorkspace workspace(model, settings);
    Step mine, expected;
    expected.next = neutral_state(variant);
    mine.input.controls = expected.input.controls = VectorX::Constant(model.nu(), 0.3);
    const auto run = [&](const Model& m, Step& step, int count) {
      workspace.use(m);
      step.next = neutral_state(m);
      step.warm = {};
      for (int i = 0; i < count; ++i) workspace.step(step.next, step.input, step);
    };
    run(model, mine, 30);
    run(variant, mine, 100);
    for (int i = 0; i < 100; ++i) fresh.step(expected.next, expected.input, expected);
    EXPECT_EQ(state_hash(mine.next), state_hash(expected.next)) << name;
    run(model, expected, 100);
    EXPECT_NE(state_hash(mine.next), state_hash(expected.next)) << name;
  }
}

TEST(Simulation, stepping_in_place_allocates_nothing_once_warm) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  for (const std::string& name : model_names()) {
    const Model model = load(name);
    for (const Contact law : {Contact::ncp, Contact::lcp}) {
      const Simulation simulation(model, {.contact = law});
      Step step;
      step.next = neutral_state(model);
      step.input.controls = VectorX::Zero(model.nu());
      for (int i = 0; i < 20; ++i) simulation.step(step.next, step.input, step);
      const auto count = testing::allocations_during([&] {
        for (int i = 0; i < 200; ++i) {
          for (double& u : step.input.controls) u = std::sin(0.1 * i);
          simulation.step(step.next, step.input, step);
        }
      });
      EXPECT_EQ(count, 0u) << name << " " << to_string(law);
    }
  }
}

TEST(Simulation, nonsense_is_refused) {
  const Model model = load("hopper");
  EXPECT_THROW(Simulation(model, {.dt = 0.0}), Error);
  EXPECT_THROW(Simulation(model, {.dt = -0.01}), Error);
  EXPECT_THROW(Simulation(model, {.dt = NAN}), Error);
  EXPECT_THROW(Simulation(model, {.recovery_speed = -1.0}), Error);
  EXPECT_THROW(Simulation(model, {.most_contacts = -1}), Error);
  const Simulation simulation(model);
  EXPECT_EQ(simulation.dt(), model.timestep());
  const State x = neutral_state(model);
  EXPECT_THROW(simulation.step(x, VectorX::Zero(2)), Error);
  State broken = x;
  broken.q.resize(1);
  EXPECT_THROW(simulation.step(broken), Error);
  const Step refused = simulation.step(x, VectorX::Constant(model.nu(), NAN));
  EXPECT_EQ(refused.status(), StepStatus::input_not_finite);
  EXPECT_EQ(state_hash(refused.next), state_hash(x));
  EXPECT_THROW(joint_reactions(simulation, refused), Error);
  StepWorkspace workspace(model, {});
  const Model other = load("ant");
  EXPECT_THROW(workspace.use(other), Error);
}

TEST(Rollout, has_the_states_of_single_steps_and_ends_where_a_step_fails) {
  const Model model = load("hopper");
  const Simulation simulation(model);
  MatrixX u = MatrixX::Constant(model.nu(), 20, 0.5);
  const Rollout path = rollout(simulation, neutral_state(model), u);
  ASSERT_EQ(path.steps(), 20);
  ASSERT_EQ(path.reports.size(), 20u);
  Step step = simulation.step(neutral_state(model), u.col(0));
  for (int i = 1; i < 20; ++i) step = simulation.step(step.next, u.col(i), step.warm);
  EXPECT_EQ(state_hash(path.last()), state_hash(step.next));

  u(1, 7) = INFINITY;
  const Rollout cut = rollout(simulation, neutral_state(model), u);
  EXPECT_EQ(cut.steps(), 7);
  EXPECT_EQ(cut.reports.size(), 8u);
  EXPECT_EQ(cut.status(), StepStatus::input_not_finite);
  EXPECT_EQ(state_hash(cut.last()), state_hash(path.state(7)));
  EXPECT_THROW(rollout(simulation, neutral_state(model), MatrixX::Zero(model.nu() + 1, 3)), Error);
}

TEST(Rollout, a_controller_sees_the_state_before_each_step) {
  const Model model = load("cart_pole");
  const Simulation simulation(model);
  std::vector<double> times;
  const Rollout path = rollout(simulation, neutral_state(model), 5, [&](int i, const State& x, Input& input) {
    times.push_back(x.time);
    input.controls[0] = i;
  });
  ASSERT_EQ(times.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(times[i], path.time[i]);
}

}  // namespace
}  // namespace articula::simulation_test
