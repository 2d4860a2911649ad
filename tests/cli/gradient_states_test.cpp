#include "cli/gradient_states.hpp"

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/simulation/disturbed_step.hpp"
#include "cli/gradient_check.hpp"

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

}  // namespace
}  // namespace articula::cli
