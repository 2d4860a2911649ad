#include "articula/simulation/batch.hpp"

#include <gtest/gtest.h>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/simulation/snapshot.hpp"

namespace articula::batch_test {
namespace {

bool same_bits(const MatrixX& a, const MatrixX& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.size(), b.data(),
                    [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

BatchState scattered(const Batch& batch) {
  BatchState x = batch.neutral_states();
  for (int e = 0; e < batch.size(); ++e) x.v.col(e).array() += 0.01 * e;
  return x;
}

TEST(Batch, has_the_bits_of_single_simulations_for_any_number_of_threads) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Model model = load("half_cheetah");
    constexpr int count = 9, steps = 60;
    const MatrixX u = MatrixX::Random(model.nu(), count * steps);
    const Batch one(model, count, {.contact = law}, 1);
    const BatchState x = scattered(one);
    const BatchRollout alone = one.rollout(x, steps, u);
    for (const int threads : {2, 3}) {
      const Batch several(model, count, {.contact = law}, threads);
      const BatchRollout path = several.rollout(x, steps, u);
      EXPECT_TRUE(same_bits(alone.q, path.q) && same_bits(alone.v, path.v)) << threads;
    }
    const Simulation simulation(model, {.contact = law});
    for (int e = 0; e < count; ++e) {
      const Rollout single = rollout(simulation, {x.q.col(e), x.v.col(e), x.activation.col(e), 0.0},
                                     u.middleCols(e * steps, steps));
      EXPECT_TRUE(same_bits(single.q, alone.q.middleCols(e * (steps + 1), steps + 1)));
      EXPECT_TRUE(same_bits(single.v, alone.v.middleCols(e * (steps + 1), steps + 1)));
    }
  }
}

TEST(Batch, single_steps_in_place_follow_the_rollout) {
  const Model model = load("hopper");
  constexpr int count = 5, steps = 30;
  const Batch batch(model, count, {}, 2);
  const MatrixX u = 0.3 * MatrixX::Random(model.nu(), count * steps);
  const BatchState x = scattered(batch);
  const BatchRollout path = batch.rollout(x, steps, u);
  BatchStep step;
  step.next = x;
  MatrixX now(model.nu(), count);
  for (int i = 0; i < steps; ++i) {
    for (int e = 0; e < count; ++e) now.col(e) = u.col(e * steps + i);
    batch.step(step.next, now, step);
  }
  for (int e = 0; e < count; ++e) {
    EXPECT_TRUE(same_bits(step.next.q.col(e), path.q.col(e * (steps + 1) + steps)));
    EXPECT_EQ(step.next.time[e], path.time(steps, e));
    EXPECT_EQ(step.reports[e].status, StepStatus::ok);
  }
}

TEST(Batch, guesses_beside_the_result_are_those_within_it_and_stay_as_they_are) {
  const Model model = load("half_cheetah");
  const Batch batch(model, 5, {}, 2);
  BatchStep within;
  within.next = scattered(batch);
  for (int i = 0; i < 60; ++i) batch.step(within.next, MatrixX(model.nu(), 0), within);
  const BatchState x = within.next;
  const std::vector<WarmStart> guesses = within.warm;
  BatchStep beside = within;  // results of another step, to be written over
  batch.step(x, MatrixX(model.nu(), 0), within);
  for (int k = 0; k < 2; ++k) {
    batch.step(x, MatrixX(model.nu(), 0), guesses, beside);
    EXPECT_TRUE(same_bits(beside.next.q, within.next.q) && same_bits(beside.next.v, within.next.v));
    for (size_t e = 0; e < guesses.size(); ++e) {
      EXPECT_EQ(beside.reports[e].guessed_islands, within.reports[e].guessed_islands);
      EXPECT_EQ(beside.warm[e].entries.size(), within.warm[e].entries.size());
    }
  }
  EXPECT_THROW(batch.step(x, MatrixX(model.nu(), 0), {WarmStart{}}, beside), Error);
}

TEST(Batch, a_step_keeps_what_it_was_taken_from_if_it_is_asked_to) {
  const Model model = load("half_cheetah");
  const Batch batch(model, 5, {}, 2);
  const BatchState x = scattered(batch);
  const MatrixX u = MatrixX::Random(model.nu(), 5), none(model.nu(), 0);
  BatchStep kept, plain;
  kept.keep_start = true;
  batch.step(x, u, kept);
  batch.step(x, u, plain);
  EXPECT_TRUE(same_bits(kept.start.q, x.q) && same_bits(kept.start.v, x.v) && same_bits(kept.controls, u));
  EXPECT_TRUE(same_bits(kept.next.q, plain.next.q) && same_bits(kept.next.v, plain.next.v));
  EXPECT_EQ(plain.start.size(), 0);
  const BatchState after = kept.next;
  batch.step(kept.next, none, kept);  // in place: the start is the state before
  EXPECT_TRUE(same_bits(kept.start.q, after.q) && same_bits(kept.start.v, after.v));
  EXPECT_EQ(kept.controls.cols(), 0);
  const BatchState next = kept.next;
  batch.step(kept.start, none, {}, kept);  // once more, from what was kept
  EXPECT_TRUE(same_bits(kept.start.q, after.q) && same_bits(kept.next.q, next.q));
}

TEST(Batch, warm_starts_of_environments_have_room_for_all_that_comes) {
  const Model model = load("quadruped");
  const Batch batch(model, 3, {}, 2);
  BatchStep step;
  step.next = batch.neutral_states();
  batch.step(step.next, MatrixX(model.nu(), 0), step);
  std::vector<const WarmStart::Entry*> places;
  for (const WarmStart& warm : step.warm) places.push_back(warm.entries.data());
  size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    batch.step(step.next, MatrixX(model.nu(), 0), step);
    for (const WarmStart& warm : step.warm) most = std::max(most, warm.entries.size());
  }
  EXPECT_GT(most, 0u);
  for (size_t e = 0; e < places.size(); ++e) EXPECT_EQ(step.warm[e].entries.data(), places[e]);
}

TEST(Batch, each_environment_may_have_its_own_model) {
  const Model model = load("quadruped");
  std::vector<Model> models;
  for (int e = 0; e < 6; ++e) {
    VectorX theta = model.theta();
    for (const ParameterSlice& slice : model.parameters().of_kind(ParameterKind::inertia))
      theta.segment(slice.offset, slice.size) *= 1.0 + 0.1 * e;
    for (const ParameterSlice& slice : model.parameters().of_kind(ParameterKind::friction))
      theta.segment(slice.offset, slice.size) *= 1.0 - 0.1 * e;
    models.push_back(model.with(theta));
  }
  const SimulationSettings settings{.dt = 0.002};
  const Batch batch(models, settings, 2);
  const MatrixX u = MatrixX::Constant(model.nu(), 6 * 50, 0.4);
  const BatchRollout path = batch.rollout(batch.neutral_states(), 50, u);
  for (int e = 0; e < 6; ++e) {
    const Rollout single =
        rollout(Simulation(models[e], settings), neutral_state(models[e]), u.middleCols(50 * e, 50));
    EXPECT_TRUE(same_bits(single.q, path.q.middleCols(51 * e, 51))) << e;
    if (e > 0) EXPECT_FALSE(same_bits(single.q, path.q.middleCols(0, 51))) << e;
  }
}

TEST(Batch, one_bad_environment_does_not_harm_the_others) {
  const Model model = load("hopper");
  const Batch batch(model, 3, {}, 2);
  MatrixX u = MatrixX::Zero(model.nu(), 3 * 10);
  u(0, 10 + 4) = NAN;
  const BatchRollout path = batch.rollout(batch.neutral_states(), 10, u);
  EXPECT_EQ(path.taken[0], 10);
  EXPECT_EQ(path.taken[1], 4);
  EXPECT_EQ(path.taken[2], 10);
  EXPECT_EQ(path.worst[1].status, StepStatus::input_not_finite);
  EXPECT_TRUE(path.q.allFinite());
  EXPECT_TRUE(same_bits(path.q.col(10), path.q.col(22 + 10)));
  EXPECT_TRUE(same_bits(path.q.col(11 + 4), path.q.col(11 + 10)));
}

TEST(Batch, wrong_shapes_are_refused) {
  const Model model = load("hopper");
  EXPECT_THROW(Batch(model, 0), Error);
  EXPECT_THROW(Batch(std::vector<Model>{}), Error);
  EXPECT_THROW(Batch(std::vector<Model>{model, load("ant")}), Error);
  const Batch batch(model, 2);
  const BatchState x = batch.neutral_states();
  EXPECT_THROW(batch.step(x, MatrixX::Zero(model.nu(), 3)), Error);
  EXPECT_THROW(batch.rollout(x, 4, MatrixX::Zero(model.nu(), 7)), Error);
  EXPECT_THROW(batch.rollout(x, -1, MatrixX::Zero(model.nu(), 0)), Error);
  BatchState small = x;
  small.q.resize(model.nq(), 1);
  EXPECT_THROW(batch.step(small, MatrixX::Zero(model.nu(), 2)), Error);
  EXPECT_THROW(batch.model(2), Error);
}

}  // namespace
}  // namespace articula::batch_test
