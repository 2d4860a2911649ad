#include "cli/gradient_states.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/io/paths.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"
#include "articula/simulation/snapshot.hpp"
#include "cli/gradient_check.hpp"
#include "tests/support/effort.hpp"

namespace articula::cli {
namespace {

TEST(gradient_states, are_the_same_over_any_number_of_threads) {
  const Model model = load("hopper");
  const auto one = trajectory_states(model, Contact::ncp, 50, 3, 1),
             three = trajectory_states(model, Contact::ncp, 50, 3, 3);
  for (size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE(one[i].state.q == three[i].state.q && one[i].state.v == three[i].state.v) << i;
    ASSERT_TRUE(one[i].input.controls == three[i].input.controls) << i;
    ASSERT_EQ(one[i].in_contact, three[i].in_contact) << i;
  }
}

TEST(gradient_states, asked_for_by_number_are_those_of_all) {
  const Model model = load("hopper");
  const auto all = trajectory_states(model, Contact::ncp, 70, 3, 2),
             some = trajectory_states(model, Contact::ncp, 70, 3, 2, {25, 69});
  ASSERT_EQ(some.size(), all.size());
  for (const size_t i : {25u, 69u}) {
    EXPECT_TRUE(some[i].state.q == all[i].state.q && some[i].state.v == all[i].state.v) << i;
    EXPECT_EQ(some[i].in_contact, all[i].in_contact) << i;
  }
  EXPECT_EQ(some[0].state.q.size(), 0);  // of a trajectory that nobody asked for
}

// Feet of planar robots with two contacts slip by nanometres, because one is nearer to the ground.
TEST(gradient_states, the_step_with_its_own_modes_held_is_the_step) {
  for (const char* name : {"walker", "hopper", "jump_worm"}) {
    const Model model = load(name);
    DisturbedStep step(model, {.contact = Contact::ncp});
    const VectorX nothing = VectorX::Zero(step.layout().size);
    VectorX x(step.outputs());
    int i = 0;
    for (const CheckedState& start : trajectory_states(model, Contact::ncp, 200, 1, 2)) {
      ASSERT_TRUE(step.begin(start.state, start.input));
      step.hold_modes(true);
      ASSERT_TRUE(step.at(nothing, 0.0, x)) << name << " " << i;
      EXPECT_LE((x.segment(model.nv(), model.nv()) - step.end().v).cwiseAbs().maxCoeff(), 1e-9)
          << name << " " << i;
      ++i;
    }
  }
}

// Servos keep arms where they are told to be: some must be told to be where something is in the way.
TEST(gradient_states, of_an_arm_are_in_contact_mostly) {
  const auto states = trajectory_states(load("arm"), Contact::ncp, 60, 1, 2);
  EXPECT_GE(std::count_if(states.begin(), states.end(), [](const CheckedState& s) { return s.in_contact; }),
            30);
}

// A contact that sticks has three rows, and two joints lead to it: where its gap vanishes to the last digit
// any other gap makes it slide.
TEST(gradient_states, of_few_joints_have_derivatives) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/>
      <body pos="0 0 0.3"><joint axis="0 0 1" damping="0.1"/><joint axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.03" mass="1"/></body>
      </worldbody></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    StepJacobians jacobians;
    int one_sided = 0;
    for (const CheckedState& start : trajectory_states(model, law, 100, 1, 2)) {
      simulation.jacobians(simulation.step(start.state, start.input), {}, jacobians);
      one_sided += jacobians.certificate.one_sided;
    }
    EXPECT_LE(one_sided, 5);
  }
}

// Springs and weak motors keep the legs of some robots within their ranges.
TEST(gradient_states, are_at_the_ends_of_ranges_sometimes) {
  const Model model = load("spider");
  const Simulation simulation(model, {.contact = Contact::ncp});
  int at_ends = 0;
  for (const CheckedState& start : trajectory_states(model, Contact::ncp, 100, 1, 2)) {
    const Simulation::Lease workspace(simulation, simulation.step(start.state, start.input).serial);
    const ContactRows& rows = workspace->contact->rows;
    at_ends += std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
      return item.kind == RowKind::joint_limit && rows.mode[rows.row_of(item)] == RowMode::hold;
    });
  }
  EXPECT_GE(at_ends, 10);
}

// A robot with all its joints at the ends of their ranges stands on feet that are in one plane to the last
// digit: the one that carries nothing moves by less than any difference.
TEST(gradient_states, are_seldom_next_to_a_change_of_modes) {
  const Model model = load("ant");
  Simulation simulation(model, {.contact = Contact::lcp});
  int near = 0;
  for (const CheckedState& start : trajectory_states(model, Contact::lcp, 100, 1, 2)) {
    const Step taken = simulation.step(start.state, start.input);
    near += simulation.jacobians(taken).certificate.velocity_margin < 1e-7;
  }
  EXPECT_LE(near, 5);
}

// How many contacts carry something.
int carrying(const DisturbedStep& step) {
  const ContactRows& rows = step.contact()->rows;
  return static_cast<int>(std::count_if(rows.items().begin(), rows.items().end(), [&](const Item& item) {
    return rows.mode[rows.row_of(item)] != RowMode::free;
  }));
}

// Equal boxes that stand on one plane, side by side, have corners at the very edge of each other: contacts
// that the least motion of one of them takes away.
TEST(gradient_states, of_boxes_keep_their_contacts) {
  const Model model = load("stack");
  DisturbedStep step(model, {.contact = Contact::lcp});
  VectorX up = VectorX::Zero(step.layout().size), x(step.outputs());
  for (int box = 0; box < model.nv() / 6; ++box) up[6 * box + 2] = box % 2 == 0 ? 1.0 : -1.0;
  int lost = 0;
  for (const CheckedState& start : trajectory_states(model, Contact::lcp, 60, 1, 2)) {
    ASSERT_TRUE(step.begin(start.state, start.input));
    step.hold_modes(true);
    int most = 0, least = 1000;
    for (const double t : {-1e-9, 0.0, 1e-9}) {
      ASSERT_TRUE(step.at(up, t, x));
      most = std::max(most, carrying(step));
      least = std::min(least, carrying(step));
    }
    lost += least < most;
    step.hold_modes(false);
  }
  EXPECT_EQ(lost, 0);
}

// Fingers that move as one have ranges that end together: what is equal stays equal.
TEST(gradient_check, moves_ends_of_ranges_that_a_joint_shares_together) {
  const Model model = load("arm");
  State state = neutral_state(model);
  for (int j = model.nq() - 2; j < model.nq(); ++j) state.q[j] = 0.04 - 1e-5;
  state.v.tail(2).setConstant(0.1);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(state, {.controls = VectorX::Constant(model.nu(), 0.039)}, 1, blocks));
  const auto limits = std::find(block_names().begin(), block_names().end(), "limits") - block_names().begin();
  EXPECT_TRUE(blocks[limits].present && !blocks[limits].true_left_out);
  EXPECT_GT(blocks[limits].largest, 1.0);
  EXPECT_LE(blocks[limits].true_error, 1e-6);
  EXPECT_LE(blocks[limits].frozen_error, 1e-6);
}

// Loads that may be shared in many ways leave more to rounding with modes held than laws do: the step as it
// is tells the same, better.
TEST(gradient_check, takes_the_better_of_two_tables_that_agree) {
  const Model model = load("half_cheetah");
  const auto states = trajectory_states(model, Contact::lcp, 500, 1, 2);
  GradientCheck check(model, Contact::lcp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[216].state, states[216].input, 1 + 7919 * 216, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
}

// What is known of a table whose noise was not measured is not enough to prefer it.
TEST(gradient_check, does_not_trust_tables_that_know_nothing_of_their_noise) {
  const Model model = load("half_cheetah");
  const auto states = trajectory_states(model, Contact::ncp, 420, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[418].state, states[418].input, 1 + 7919 * 418, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
}

// A moment that a robot hardly feels would spin a thin plate, if friction did not hold it, by 1e5 rad/s.
TEST(gradient_check, pushes_every_body_as_its_inertia_asks_for) {
  const Model model = load("plate_gripper_thin");
  const auto states = trajectory_states(model, Contact::lcp, 140, 1, 2);
  GradientCheck check(model, Contact::lcp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[134].state, states[134].input, 1 + 7919 * 134, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
}

// In a stack that falls over faces share loads in three ways, and slide at metres a second; beside them one
// corner slides by nanometres a second, and no shift in which it would not turn tells anything of the faces.
TEST(gradient_check, slow_contacts_do_not_hide_how_others_share_loads) {
  const Model model = load("stack");
  const CheckedState start = trajectory_states(model, Contact::ncp, 40, 1, 2)[1];
  const Simulation simulation(model, {.contact = Contact::ncp});
  const StepJacobians jacobians = simulation.jacobians(simulation.step(start.state, start.input));
  DisturbedStep step(model, simulation.settings());
  ASSERT_TRUE(step.begin(start.state, start.input));
  step.hold_modes(true);
  VectorX ahead(step.outputs()), behind = ahead;
  constexpr double h = 3e-7;
  for (const int column : {27, 45, 46}) {
    const VectorX dz = VectorX::Unit(step.layout().size, column);
    ASSERT_TRUE(step.at(dz, h, ahead) && step.at(dz, -h, behind));
    const VectorX expected = (ahead - behind) / (2.0 * h), found = jacobians.by_state.col(column);
    EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-6 * expected.cwiseAbs().maxCoeff()) << column;
  }
}

// A plate that comes to rest slides by nanometres a second, each corner elsewhere: soft laws would turn them.
TEST(gradient_check, holds_modes_of_what_slides_by_nanometres) {
  const Model model = load("plate_gripper");
  const auto states = trajectory_states(model, Contact::ncp, 500, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  for (const int i : {353, 435}) {
    ASSERT_TRUE(check.run(states[i].state, states[i].input, 1 + 7919 * i, blocks));
    for (size_t k = 0; k < blocks.size(); ++k)
      EXPECT_LE(blocks[k].frozen_error, 1e-6) << i << " " << block_names()[k];
  }
}

// Dry friction that slides fast is no row, but where modes are held it is one, which an end of the range
// overrules: both are no mode of the step.
TEST(gradient_check, holds_modes_of_friction_that_coasts_into_the_end_of_a_range) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody>
      <body><joint name="a" axis="0 1 0" frictionloss="0.2" range="-60 60" limited="true"/><geom size="0.05"/>
        <body pos="0.3 0 0"><joint name="b" axis="0 1 0" frictionloss="0.1"/><geom size="0.05"/></body>
      </body></worldbody></mujoco>)"));
  State state = neutral_state(model);
  state.q[0] = std::numbers::pi / 3.0 - 1e-3;
  state.v << 2.0, -1.0;
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    GradientCheck check(model, law);
    std::vector<BlockResult> blocks;
    ASSERT_TRUE(check.run(state, {}, 1, blocks));
    for (size_t k = 0; k < blocks.size(); ++k) {
      EXPECT_FALSE(blocks[k].frozen_left_out || blocks[k].true_left_out) << block_names()[k];
      EXPECT_LE(std::max(blocks[k].frozen_error, blocks[k].true_error), 1e-6) << block_names()[k];
    }
  }
}

// Boxes that an impact turns round: their rows are called for in one pass after the other. Steps that start
// from what was found have them at once, and come to the same motion.
TEST(gradient_check, steps_beside_a_stack_that_falls_find_the_motion_that_cold_ones_find) {
  const Model model = load("stack");
  const auto states = trajectory_states(model, Contact::lcp, 40, 1, 2);
  DisturbedStep step(model, {.contact = Contact::lcp});
  const VectorX dz = VectorX::Unit(step.layout().size, 3);
  VectorX warm(step.outputs()), cold = warm;
  int searched = 0;
  for (int i = 30; i < 40; ++i) {
    ASSERT_TRUE(step.begin(states[i].state, states[i].input));
    ASSERT_TRUE(step.at(dz, 1e-8, warm));
    searched += step.report().iterations > 40;
    step.start_warm(false);
    ASSERT_TRUE(step.at(dz, 1e-8, cold));
    step.start_warm(true);
    EXPECT_LE((warm - cold).cwiseAbs().maxCoeff(), 1e-10) << i;
  }
  EXPECT_LE(searched, 2);
}

// Couplings close as fast as they may, which is a number with a rounding error, and share lanes with others.
TEST(gradient_check, does_not_mind_couplings_that_close_as_fast_as_they_may) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody>
      <body><joint name="a"/><geom size="0.05"/><body pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom size="0.05"/>
        <body pos="0.3 0 0"><joint name="c" axis="0 1 0"/><geom size="0.05"/></body></body></body></worldbody>
      <equality><joint joint1="a" joint2="b" polycoef="0 0.7 0.3 0 0"/><joint joint1="b" joint2="c"/></equality></mujoco>)"));
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  for (int i = 0; i < 40; ++i) {
    State state = neutral_state(model);
    state.q << 0.3 + 0.01 * i, -0.2 + 0.007 * i, 0.4 - 0.003 * i;
    state.v << 0.1, 0.2, -0.3;
    ASSERT_TRUE(check.run(state, {.controls = VectorX::Zero(0)}, 1, blocks));
    EXPECT_FALSE(blocks[0].true_left_out || blocks[0].frozen_left_out) << i;
    EXPECT_LE(std::max(blocks[0].true_error, blocks[0].frozen_error), 1e-6) << i;
  }
}

// Two points of a foot that close different gaps and stick would have to move apart: they are granted the
// least slack, which changes with everything, also beside a foot that slides.
TEST(gradient_check, knows_how_slack_changes_beside_what_slides) {
  const Model model = load("humanoid");
  const auto states = trajectory_states(model, Contact::lcp, 100, 1, 2);
  GradientCheck check(model, Contact::lcp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[90].state, states[90].input, 1 + 7919 * 90, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
}

// A robot that the ends of its ranges jam is granted slack along which its feet slide.
TEST(gradient_check, knows_how_slack_of_what_slides_changes) {
  const Model model = load("ant");
  const auto states = trajectory_states(model, Contact::lcp, 360, 1, 2);
  GradientCheck check(model, Contact::lcp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[344].state, states[344].input, 1 + 7919 * 344, blocks));
  EXPECT_LE(check.adjoint_error(), 1e-9);
  for (size_t k = 0; k < blocks.size(); ++k) {
    const std::string& name = block_names()[k];
    if (name == "damping" || name == "friction" || name == "armature" || name == "inertia" || name == "gains")
      EXPECT_LE(blocks[k].frozen_error, 1e-6) << name;
  }
}

// Cards that lean on each other with all their friction share slack as rows do that stand still.
TEST(gradient_check, holds_what_yields_where_it_stands) {
  const Model model = load("card_house");
  const auto states = trajectory_states(model, Contact::lcp, 20, 1, 2);
  GradientCheck check(model, Contact::lcp);
  std::vector<BlockResult> blocks;
  for (const int i : {8, 10}) {
    ASSERT_TRUE(check.run(states[i].state, states[i].input, 1 + 7919 * i, blocks));
    EXPECT_LE(blocks[0].frozen_error, 1e-6) << i;
  }
}

// Two points of a foot that stick creep by the slack they were granted, which is no direction to slide to.
TEST(gradient_check, finds_differences_of_feet_that_creep_by_their_slack) {
  const Model model = load("biped");
  const auto states = trajectory_states(model, Contact::ncp, 400, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[382].state, states[382].input, 1 + 7919 * 382, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_FALSE(blocks[k].frozen_left_out) << block_names()[k];
    EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
  }
}

// Steps so short that modes stay as they are tell little, and nothing against what longer ones tell with
// modes held.
TEST(gradient_check, does_not_believe_steps_that_are_too_short) {
  const Model model = load("quadruped");
  const auto states = trajectory_states(model, Contact::ncp, 380, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[373].state, states[373].input, 1 + 7919 * 373, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_LE(blocks[k].true_error, 1e-6) << block_names()[k];
    EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
  }
}

// Where free bodies are placed is their q, and no parameter that a step could feel.
TEST(gradient_check, asks_for_no_placements_of_free_bodies) {
  const auto placement =
      std::find(block_names().begin(), block_names().end(), "placement") - block_names().begin();
  for (const char* name : {"boxes_and_balls", "ant"}) {
    const Model model = load(name);
    const auto states = trajectory_states(model, Contact::lcp, 1, 1, 1);
    GradientCheck check(model, Contact::lcp);
    std::vector<BlockResult> blocks;
    ASSERT_TRUE(check.run(states[0].state, states[0].input, 1, blocks));
    EXPECT_EQ(blocks[placement].present, std::string(name) == "ant");
  }
}

// What holds a joint next to singular is solved to the last digit, or the joint would feel the rest.
TEST(gradient_check, is_not_misled_by_what_solvers_leave) {
  const Model model = load("quadruped");
  const auto states = trajectory_states(model, Contact::ncp, 60, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[18].state, states[18].input, 1 + 7919 * 18, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) EXPECT_LE(blocks[k].true_error, 1e-6) << block_names()[k];
}

// What slides by 0.1 mm/s on a robot that hardly gives way turns within the shortest steps.
TEST(gradient_check, finds_differences_of_what_slides_slowly) {
  const Model model = load("hopper");
  const auto states = trajectory_states(model, Contact::ncp, 500, 1, 2);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[438].state, states[438].input, 1 + 7919 * 438, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_FALSE(blocks[k].frozen_left_out) << block_names()[k];
    EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
  }
}

// The drag on a body that hardly moves has a kink nearby, at a velocity of the medium and not of the body.
TEST(gradient_check, sees_kinks_where_parameters_move_them) {
  const Model model = load("swimmer");
  State state = neutral_state(model);
  for (int d = 0; d < model.nv(); ++d) state.v[d] = 1e-4 * (1.0 + 0.3 * d);
  GradientCheck check(model, Contact::ncp);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(state, {.controls = VectorX::Zero(model.nu())}, 1, blocks));
  for (size_t k = 0; k < blocks.size(); ++k) {
    if (!blocks[k].present || blocks[k].true_left_out) continue;
    EXPECT_LE(blocks[k].true_error, 1e-6) << block_names()[k];
    EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
  }
}

// One state, at frozen modes.
void expect_derivatives_at(const Model& model, Contact law, int state) {
  const auto states = trajectory_states(model, law, 500, 1, 2, {state});
  GradientCheck check(model, law);
  std::vector<BlockResult> blocks;
  ASSERT_TRUE(check.run(states[state].state, states[state].input, 1 + 7919 * state, blocks));
  EXPECT_LE(check.adjoint_error(), 1e-9);
  for (size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_FALSE(blocks[k].frozen_left_out) << block_names()[k];
    EXPECT_LE(blocks[k].frozen_error, 1e-6) << block_names()[k];
  }
}

// Of a third-party robot.
void expect_derivatives_at(const char* file, Contact law, int state) {
  const auto shared = shared_models_directory();
  if (!shared) GTEST_SKIP() << "no shared models";
  expect_derivatives_at(load((*shared / file).string()), law, state);
}

// Boxes that yield on many corners: directions that are rounded put forces beyond their cones by 5e-9.
TEST(gradient_states, of_a_stack_that_falls_are_solved_and_found_again_at_once) {
  const Model model = load("stack");
  const auto states = trajectory_states(model, Contact::ncp, 500, 1, 2, {71});
  const Simulation simulation(model, {.contact = Contact::ncp});
  const Step cold = simulation.step(states[71].state, states[71].input);
  EXPECT_EQ(cold.report.contact, SolveStatus::solved);
  const Step warm = simulation.step(states[71].state, states[71].input, cold.warm);
  EXPECT_LT(warm.report.iterations, 20);
  EXPECT_EQ(state_hash(warm.next), state_hash(cold.next));
}

// Cards that yield, on points that cannot follow a turn: soft laws would turn them by loads of order 1 / eps.
TEST(gradient_check, holds_what_yields_beside_rows_that_cannot_follow) {
  expect_derivatives_at(load("card_house"), Contact::ncp, 191);
  expect_derivatives_at(load("card_house"), Contact::lcp, 232);
}

// 1e-10 of slack makes rows miss what loads of soft laws would meet.
TEST(gradient_check, holds_slack_that_is_next_to_none) {
  expect_derivatives_at(load("card_house"), Contact::lcp, 156);
}

// Loads that stay as they were do so in tangents of pyramids, which turn with the normal.
TEST(gradient_check, holds_loads_in_directions_of_pyramids) {
  expect_derivatives_at(load("stack"), Contact::lcp, 336);
}

// Next to a pole no step is longer than 1e-6, and noise leaves a table six digits.
TEST(gradient_check, knows_more_from_many_tables_than_from_one) {
  expect_derivatives_at("mjcf/hopper/hopper.xml", Contact::ncp, 368);
}

// A hand beside feet that slides and is granted 1e-10 m/s, by which armature moves it.
TEST(gradient_check, slack_of_normals_that_slide_follows_the_weights) {
  expect_derivatives_at("mjcf/humanoid_mujoco/humanoid.xml", Contact::lcp, 90);
}

// A step that has not the smallest impulses, of contacts of which one yields: beside it loads stay as they
// are.
TEST(gradient_check, holds_modes_of_loads_that_soft_laws_do_not_lead_to) {
  expect_derivatives_at("mjcf/humanoid_mujoco/humanoid.xml", Contact::ncp, 163);
}

// What slides by a nanometre a second turns within any difference that has digits.
TEST(gradient_check, holds_what_creeps_to_its_law_as_linearised) {
  expect_derivatives_at("mjcf/humanoid_mujoco/humanoid.xml", Contact::ncp, 88);
}

// A ball in a slot that is too narrow: both walls ask for recovery, and press on each other through it.
TEST(gradient_check, holds_slack_that_biases_were_granted_beside_what_slides) {
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.002"/><worldbody>
      <geom type="plane" size="2 2 .1"/>
      <geom type="box" size="0.05 0.3 0.3" pos="-0.1495 0 0.2"/>
      <geom type="box" size="0.05 0.3 0.3" pos="0.1495 0 0.2"/>
      <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    GradientCheck check(model, law);
    std::vector<BlockResult> blocks;
    int granted = 0;
    const int states = testing::sanitized ? 2 : 8;
    for (int i = 0; i < states; ++i) {
      State state = neutral_state(model);
      state.q[0] = 1e-4 * (i % 5 - 2);
      state.q[2] += 3e-4 * (i % 3);
      for (int d = 0; d < 6; ++d) state.v[d] = 0.1 * std::sin(1.7 * i + 2.3 * d);
      granted += simulation.step(state).report.contact == SolveStatus::infeasible_bias;
      ASSERT_TRUE(check.run(state, {}, 1, blocks)) << i;
      EXPECT_LE(check.adjoint_error(), 1e-9) << i;
      for (size_t k = 0; k < blocks.size(); ++k) {
        EXPECT_FALSE(blocks[k].frozen_left_out) << i << " " << block_names()[k];
        EXPECT_LE(blocks[k].frozen_error, 1e-6) << i << " " << block_names()[k];
      }
    }
    EXPECT_GE(granted, states / 2) << "the case that this is about";
  }
}

// Cassie as it was built is half a radian beyond its ranges, and takes seconds to come back.
TEST(gradient_states, of_loops_start_where_they_are_within_their_ranges) {
  const auto shared = shared_models_directory();
  if (!shared) GTEST_SKIP() << "no shared models";
  const Model model = load((*shared / "mjcf/agility_cassie/scene.xml").string());
  const Simulation simulation(model, {.contact = Contact::lcp});
  const auto states = trajectory_states(model, Contact::lcp, 500, 1, 2, {100, 180});
  for (const int i : {100, 110, 119, 180, 190, 199})
    EXPECT_LT(simulation.step(states[i].state, states[i].input).report.contact, SolveStatus::infeasible_bias)
        << i;
}

// Fingers that are coupled and came to rest: friction that holds both of them leaves no digit of the coupling
// open, and which of the two gives way depends on how it opens.
TEST(gradient_states, of_coupled_fingers_at_rest_have_derivatives) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody>
      <body><joint axis="0 1 0" damping="0.1"/><geom size="0.1" mass="1" pos="0.3 0 0"/>
        <body name="left" pos="0.6 0.05 0"><joint name="left" axis="0 0 1" frictionloss="0.5" range="-90 90"/>
          <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.1"/></body>
        <body name="right" pos="0.6 -0.05 0"><joint name="right" axis="0 0 1" frictionloss="0.5" range="-80 80"/>
          <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.1"/></body></body></worldbody>
      <contact><exclude body1="left" body2="right"/></contact>
      <equality><joint joint1="left" joint2="right" polycoef="0 -1 0 0 0"/></equality></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    StepJacobians jacobians;
    int one_sided = 0;
    for (const CheckedState& start : trajectory_states(model, law, 100, 1, 2)) {
      simulation.jacobians(simulation.step(start.state, start.input), {}, jacobians);
      one_sided += jacobians.certificate.one_sided;
    }
    EXPECT_LE(one_sided, 5);
  }
}

}  // namespace
}  // namespace articula::cli
