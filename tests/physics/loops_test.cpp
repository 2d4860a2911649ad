// Closed loops stay closed: to rounding at rest, to second order in the step in motion.

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula {
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

}  // namespace
}  // namespace articula
