// Long runs under random controls: nothing breaks, whatever the robot does.
// ARTICULA_FULL=1 runs the acceptance size, ARTICULA_SEED other controls.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "articula/io/load.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/allocations.hpp"

namespace articula::endurance_test {
namespace {

class endurance : public ::testing::TestWithParam<std::string> {};

unsigned seed() {
  const char* text = std::getenv("ARTICULA_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 7u;
}

// Sanitizers own malloc, and are slow.
int steps() {
  if (std::getenv("ARTICULA_FULL") != nullptr) return 1'000'000;
  return bench::counts_allocations() ? 10'000 : 300;
}

// Uniform in their ranges.
void shake(const Model& model, std::mt19937& random, VectorX& controls) {
  for (int i = 0; i < model.nu(); ++i) {
    const auto& range = model.description().actuators[static_cast<std::size_t>(i)].control_range;
    const double low = range ? (*range)[0] : -1.0, high = range ? (*range)[1] : 1.0;
    controls[i] = std::uniform_real_distribution<double>(low, high)(random);
  }
}

struct Watch {
  double deepest = 0.0, flagged = 0.0;
  int deepest_at = 0, deep = 0, flags = 0;
  bool overflow = false;
  StepContact worst;  // the deepest contact of all

  void see(const Step& step, int at) {
    const StepReport& report = step.report;
    if (report.deepest > deepest) {
      deepest = report.deepest;
      deepest_at = at;
      for (const StepContact& contact : step.contacts)
        if (-contact.distance > 0.9 * deepest) worst = contact;
    }
    deep += report.deepest > 1e-3;
    overflow |= report.overflow;
    if (report.contact != SolveStatus::inexact) return;
    ++flags;
    flagged = std::max(flagged, report.residual);
  }
};

TEST_P(endurance, random_controls_break_nothing) {
  const Model model = load(GetParam());
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    SCOPED_TRACE(to_string(law));
    const Simulation simulation(model, {.dt = 0.001, .contact = law});
    std::mt19937 random(seed());
    Step step;
    step.next = neutral_state(model);
    step.input.controls = VectorX::Zero(model.nu());
    for (int i = 0; i < 20; ++i) simulation.step(step.next, step.input, step);
    Watch watch;
    const auto allocations = testing::allocations_during([&] {
      for (int i = 0; i < steps() && step.ok(); ++i) {
        if (i % 20 == 0) shake(model, random, step.input.controls);
        simulation.step(step.next, step.input, step);
        watch.see(step, i);
      }
    });
    EXPECT_EQ(step.status(), StepStatus::ok) << to_string(step.status()) << " at " << step.start.time;
    EXPECT_TRUE(step.next.q.allFinite() && step.next.v.allFinite());
    EXPECT_FALSE(watch.overflow);
    EXPECT_LT(watch.deepest, 1e-3) << watch.deep << " steps, the worst is number " << watch.deepest_at
                                   << " of seed " << seed() << ": " << contact_name(model, watch.worst);
    EXPECT_LT(watch.flagged, 1e-4) << watch.flags << " flagged steps";
    if (bench::counts_allocations()) EXPECT_EQ(allocations, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(own_models, endurance, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace articula::endurance_test
