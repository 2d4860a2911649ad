// Dry friction that slides fast has no row: a known impulse, until something stops it.

#include <gtest/gtest.h>

#include <cmath>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula {
namespace {

Model cart(const char* more = "") {
  return build(parse_mjcf(std::string(R"(<mujoco><option gravity="0 0 0" timestep="0.01"/><worldbody>
    <body><joint type="slide" axis="1 0 0" frictionloss="2"/><geom size="0.1" mass="1"/></body>)") +
                          more + "</worldbody></mujoco>"));
}

// v+ = v - h f / m while it slides, and rest after v / (h f / m) steps: with no row, then with one.
TEST(coasting, friction_takes_h_f_a_step_and_then_holds) {
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Model model = cart();
    const Simulation simulation(model, {.contact = law});
    for (const double side : {1.0, -1.0}) {
      Step step;
      step.next = neutral_state(model);
      step.next.v[0] = side;
      for (int i = 1; i <= 60; ++i) {
        simulation.step(step.next, step.input, step);
        ASSERT_TRUE(step.ok());
        EXPECT_NEAR(step.next.v[0], side * std::max(1.0 - 0.02 * i, 0.0), 1e-13);
        EXPECT_EQ(step.report.rows, 1.0 - 0.02 * i > 0.1 ? 0 : 1);
      }
    }
  }
}

// d v+ / d f = -side h / m, d v+ / d h = -side f / m
TEST(coasting, derivatives_by_friction_and_time_step) {
  const Model model = cart();
  const Simulation simulation(model);
  State x = neutral_state(model);
  for (const double side : {1.0, -1.0}) {
    x.v[0] = side;
    const Step step = simulation.step(x);
    ASSERT_EQ(step.report.rows, 0);
    for (const auto& [pattern, expected] :
         {std::pair("*dry_friction", -side * 0.01), std::pair("timestep", -side * 2.0)}) {
      const GradientSettings settings{.parameters = model.parameters().matching(pattern)};
      ASSERT_EQ(settings.parameters.size(), 1u) << pattern;
      const StepGradient gradient = simulation.pullback(step, {.v = VectorX::Ones(1)}, settings);
      EXPECT_NEAR(gradient.parameters[0], expected, 1e-12) << pattern;
    }
  }
}

// A ball that hits the cart from the front turns it round: its friction has a row after all, and changes
// side.
TEST(coasting, what_is_turned_round_has_a_row) {
  const Model model =
      cart(R"(<body pos="0.2001 0 0"><joint type="slide" axis="1 0 0"/><geom size="0.1" mass="10"/></body>)");
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    State x = neutral_state(model);
    x.v[0] = 1.0;
    x.v[1] = -1.0;
    const Step step = simulation.step(x);
    ASSERT_TRUE(step.ok());
    // Both at one speed less the gap: (m1 + m2) v = m1 v1 + m2 v2 + h f, and v2 - v1 = -gap / h.
    const double gap = 0.0001 / 0.01, v = (1.0 - 10.0 + 0.01 * 2.0 + 10.0 * gap) / 11.0;
    EXPECT_NEAR(step.next.v[0], v, 1e-9);
    EXPECT_NEAR(step.next.v[1], v - gap, 1e-9);
  }
}

}  // namespace
}  // namespace articula
