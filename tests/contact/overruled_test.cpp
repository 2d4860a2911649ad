// Rows that stand still and are no equations of the motion.

#include "articula/contact/overruled.hpp"

#include <gtest/gtest.h>

#include "articula/derivatives/differences.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"

namespace articula::testing::overruled_test {
namespace {

// Two fingers that are coupled, with equal ranges. One is pushed to its end, and with it the other one, which
// is pulled away from it: both ends are reached, and one of them carries everything.
TEST(overruled, of_two_coupled_fingers_one_end_of_a_range_holds_both) {
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
      <body><joint name="left" type="slide" axis="0 1 0" range="0 0.04"/><geom size="0.01" mass="0.1"/></body>
      <body pos="0.5 0 0"><joint name="right" type="slide" axis="0 -1 0" range="0 0.04" frictionloss="0.01"/>
        <geom size="0.01" mass="0.1"/></body></worldbody>
      <equality><joint joint1="left" joint2="right"/></equality></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    SimulationSettings settings{.contact = law};
    const Simulation simulation(model, settings);
    State state = neutral_state(model);
    state.q << 0.04 - 3e-5, 0.04 - 1e-5;
    Input input;
    input.forces = Eigen::Vector2d(500.0, -400.0);
    const Step step = simulation.step(state, input);
    const StepJacobians found = simulation.jacobians(step);
    EXPECT_FALSE(found.certificate.one_sided);
    {
      const Simulation::Lease workspace(simulation, step.serial);
      const ContactRows& rows = workspace->contact->rows;
      int reached = 0, carrying = 0;
      for (const Item& item : rows.items()) {
        if (item.kind != RowKind::joint_limit) continue;
        reached += std::abs(rows.sigma[rows.row_of(item)]) < 1e-12;
        carrying += rows.lam[rows.row_of(item)] > 0.0;
      }
      EXPECT_EQ(reached, 2) << "the case that this is about";
      EXPECT_EQ(carrying, 1);
    }
    DisturbedStep disturbed(model, settings);
    ASSERT_TRUE(disturbed.begin(state, input));
    for (const bool held : {false, true}) {
      disturbed.hold_modes(held);
      MatrixX reference(4, 4);
      for (int i = 0; i < 4; ++i) {
        const VectorX dz = VectorX::Unit(disturbed.layout().size, i);
        const auto f = [&](double t) {
          VectorX x(4);
          EXPECT_TRUE(disturbed.at(dz, t, x));
          return x;
        };
        reference.col(i) = ridders_differences(f, 1e-6).derivative;
      }
      EXPECT_LE(relative_error(found.by_state, reference), 1e-7) << held;
    }
  }
}

}  // namespace
}  // namespace articula::testing::overruled_test
