// A kinematic body that nobody moves is where its placement says: what touches it, and what hangs on it,
// moves with that. Differences of the step are the oracle.

#include <gtest/gtest.h>

#include "articula/derivatives/differences.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula::testing::kinematic_placement_test {
namespace {

Model plates() {
  return build(parse_mjcf(R"(<mujoco><compiler angle="radian"/><worldbody>
      <body name="deck" mocap="true" pos="0.1 0 0.3" euler="0.05 0.1 0.2"><geom type="box" size="0.5 0.5 0.03"/></body>
      <body name="bracket" mocap="true" pos="0 1 1" euler="0.3 -0.2 0.4"><body pos="0.1 0 0">
        <joint axis="0 1 0.2"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.4"/></body></body>
      <body pos="0.1 0 0.38"><freejoint/><geom type="sphere" size="0.05" mass="0.3"/></body>
      <body pos="0.1 0.3 0.41"><freejoint/><geom type="box" size="0.06 0.05 0.04" mass="0.5"/></body>
    </worldbody></mujoco>)"));
}

Input given(const Model& model, bool poses) {
  Input input;
  for (const BodyDescription& body : model.description().bodies) {
    if (poses && body.kinematic) input.kinematic_pose.push_back(body.pose);
  }
  return input;
}

TEST(kinematic_placement, moves_what_touches_the_body_unless_the_input_moves_it) {
  const Model model = plates();
  const int nv = model.nv();
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    for (const bool poses : {false, true}) {
      const Simulation simulation(model, {.dt = 0.002, .contact = law});
      const Input input = given(model, poses);
      Step step;
      step.next = neutral_state(model);
      for (int i = 0; i < 60; ++i) simulation.step(State(step.next), input, step);
      const State x = step.next;
      simulation.step(x, input, step);
      ASSERT_GE(step.contacts.size(), 4u);
      std::vector<ParameterSlice> slices;
      for (const char* name : {"body/deck/placement", "body/bracket/placement"})
        slices.push_back(model.parameters().find(name));
      const VectorX covector = VectorX::LinSpaced(nv, -1.0, 1.0);
      StepGradient gradient;
      simulation.pullback(step, {covector, covector, {}}, {.parameters = slices}, gradient);

      articula::DisturbedStep disturbed(model, simulation.settings());
      ASSERT_TRUE(disturbed.begin(x, input));
      VectorX both(2 * nv), dz = VectorX::Zero(disturbed.layout().size), there(disturbed.outputs());
      both << covector, covector;
      int at = 0;
      double largest = 0.0;
      for (const ParameterSlice& slice : slices) {
        for (int i = 0; i < slice.size; ++i, ++at) {
          dz[disturbed.layout().theta + slice.offset + i] = 1.0;
          const VectorX expected = ridders_differences(
                                       [&](double t) -> VectorX {
                                         EXPECT_TRUE(disturbed.at(dz, t, there));
                                         return there;
                                       },
                                       {1e-5, 1e-6})
                                       .derivative;
          dz[disturbed.layout().theta + slice.offset + i] = 0.0;
          largest = std::max(largest, std::abs(expected.dot(both)));
          EXPECT_NEAR(gradient.parameters[at], expected.dot(both), 1e-6 * std::max(largest, 1.0))
              << to_string(law) << " " << slice.name << " " << i;
        }
      }
      EXPECT_EQ(largest > 1.0, !poses) << to_string(law);
    }
  }
}

}  // namespace
}  // namespace articula::testing::kinematic_placement_test
