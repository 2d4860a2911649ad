#include "articula/simulation/step_modes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "articula/io/load.hpp"
#include "articula/simulation/step_signature.hpp"

namespace articula::testing::step_modes_test {
namespace {

Step standing(const Simulation& simulation) {
  Step step = simulation.step(neutral_state(simulation.model()));
  for (int i = 0; i < 600; ++i) step = simulation.step(step.next, Input{}, step.warm);
  return step;
}

TEST(StepModes, are_equal_nearby_and_differ_in_flight) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(load("quadruped"), {.dt = 0.002, .contact = law});
    const Step step = standing(simulation);
    const StepModes modes = modes_of(simulation, step);
    State beside = step.start, above = step.start;
    beside.v.array() += 1e-10;
    above.q[2] += 1.0;
    EXPECT_TRUE(modes == modes_of(simulation, simulation.step(beside)));
    EXPECT_FALSE(modes == modes_of(simulation, simulation.step(above)));
  }
}

// Looking at other steps in between, or at these modes, changes nothing in the derivatives of a step.
TEST(StepModes, and_joint_reactions_leave_derivatives_alone) {
  const Simulation simulation(load("quadruped"));
  const Step step = standing(simulation);
  const StepJacobians expected = simulation.jacobians(step);
  State above = step.start;
  above.q[2] += 1.0;
  const Step other = simulation.step(above);
  const Step again = simulation.step(step.start, step.input, step.guess);
  joint_reactions(simulation, other);
  EXPECT_EQ(simulation.jacobians(again).by_state, expected.by_state);
  const StepModes modes = modes_of(simulation, other);
  EXPECT_TRUE(held_step(simulation, above, {}, modes).has_value());
  EXPECT_EQ(simulation.jacobians(step).by_state, expected.by_state);
}

// A row that holds and moves all the same was granted slack: no step that needed none is like it.
TEST(StepModes, tell_steps_that_granted_slack) {
  const Simulation simulation(load("quadruped"));
  const Step step = standing(simulation);
  const Simulation::Lease workspace(simulation, step.serial);
  const Structure& structure = simulation.model().structure();
  ContactRows rows = workspace->contact->rows;
  const auto keys = contact_keys(workspace->contact->contacts);
  const double capped = simulation.settings().recovery_speed;
  StepSignature without, with, held;
  without.read_rows(structure, rows, keys, capped);
  const auto carries = std::find(rows.mode.begin(), rows.mode.end(), RowMode::hold);
  ASSERT_NE(carries, rows.mode.end());
  rows.sigma[static_cast<size_t>(carries - rows.mode.begin())] = 1e-3;
  with.read_rows(structure, rows, keys, capped);
  held.read_rows(structure, rows, keys, capped, true);
  EXPECT_FALSE(without.same_rows(with));
  EXPECT_TRUE(with.same_rows(with));
  EXPECT_TRUE(without.same_rows(held)) << "what is held has the modes that it was given";
}

// Beyond the modes of the step as it is: feet that are held pull at the ground.
TEST(StepModes, that_are_held_make_a_smooth_function) {
  const Simulation simulation(load("quadruped"));
  const Step step = standing(simulation);
  const StepModes modes = modes_of(simulation, step);
  const int nv = simulation.model().nv();
  const MatrixX by_velocity = simulation.jacobians(step).by_state.bottomRightCorner(nv, nv);
  const auto beside = [&](double t) {
    State x = step.start;
    x.v[2] += t;
    return held_step(simulation, x, step.input, modes).value().v;
  };
  EXPECT_LT((beside(0.0) - step.next.v).norm(), 1e-11);
  const VectorX slope = (8.0 * (beside(0.01) - beside(-0.01)) - beside(0.02) + beside(-0.02)) / 0.12;
  EXPECT_LT((slope - by_velocity.col(2)).norm(), 1e-6 * std::max(1.0, slope.norm()));
  EXPECT_FALSE(modes == modes_of(simulation, [&] {
                 State x = step.start;
                 x.v[2] += 2.0;
                 return simulation.step(x);
               }()));
}

}  // namespace
}  // namespace articula::testing::step_modes_test
