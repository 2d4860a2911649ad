// Bodies whose points are not equally far from the ground: wheels roll, feet come down, nothing slips.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/io/mjcf.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/ridders.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::rolling_test {
namespace {

const auto both_laws = {Contact::ncp, Contact::lcp};
constexpr double radius = 0.1;

Model car(const std::string& wheel) {
  std::string wheels;
  for (const char* place : {"0.2 0.15 0", "0.2 -0.15 0", "-0.2 0.15 0", "-0.2 -0.15 0"})
    wheels +=
        fmt::format("<body pos='{}'><joint axis='0 1 0'/><geom type='{}' mass='0.5'/></body>", place, wheel);
  return build(
      parse_mjcf("<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 0.1'><freejoint/>"
                 "<geom type='box' size='0.25 0.1 0.04' mass='4'/>" +
                 wheels + "</body></worldbody></mujoco>"));
}

// Rolling at v = w r, and tilted: no two points are equally far from the ground.
State rolling(const Model& model, double v, double tilt) {
  State x = neutral_state(model);
  x.q.segment<4>(3) = Eigen::Vector4d(1.0, tilt, 1.5 * tilt, 0.0).normalized();
  x.v[0] = v;
  x.v.tail(4).setConstant(v / radius);
  return x;
}

const std::string wheels[] = {"cylinder' size='0.1 0.03' euler='90 0 0",
                              "capsule' size='0.1 0.02' euler='90 0 0"};

TEST(rolling, a_car_on_wheels_with_unequal_gaps_rolls_on_without_slipping) {
  for (const std::string& wheel : wheels) {
    for (const Contact law : both_laws) {
      const Model model = car(wheel);
      const Simulation simulation(model, {.dt = 0.002, .contact = law});
      const Step step = simulation.step(rolling(model, 1.0, 1e-7));
      ASSERT_EQ(step.contacts.size(), 8u);
      for (const StepContact& c : step.contacts) EXPECT_EQ(c.mode, ContactMode::sticking);
      for (int i = 0; i < 4; ++i)
        EXPECT_NEAR((step.next.v[4] + step.next.v[6 + i]) * radius, step.next.v[0], 1e-10);
      EXPECT_NEAR(step.next.v[0], 1.0, 1e-4);
      EXPECT_NEAR(step.next.v[5], 0.0, 1e-10);  // straight on
    }
  }
}

TEST(rolling, a_car_on_the_ground_may_tilt_to_either_side) {
  for (const std::string& wheel : wheels) {
    for (const Contact law : both_laws) {
      const Model model = car(wheel);
      const Simulation simulation(model, {.dt = 0.002, .contact = law});
      const State x = rolling(model, 1.0, 0.0);
      const Step step = simulation.step(x);
      const StepJacobians jacobians = simulation.jacobians(step);
      EXPECT_FALSE(jacobians.certificate.one_sided);
      // Tilted about the axis along which it rolls.
      const VectorX reference = ridders(
          [&](double t) {
            VectorX turn = VectorX::Zero(model.nv());
            turn[3] = t;
            State y = x;
            integrate(model, x.q, turn, 1.0, y.q);
            return VectorX(simulation.step(y).next.v);
          },
          1e-7);
      EXPECT_LT(derivative_error(jacobians.by_state.block(model.nv(), 3, model.nv(), 1), reference), 1e-6);
    }
  }
}

// The corners of a box are in one plane, whatever its tilt; closing its gaps, none of them slides.
TEST(rolling, a_tilted_box_comes_down_without_sliding) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (const double tilt : {1e-7, 1e-6, 1e-5}) {
      Description d = empty_world();
      add_floor(d, {.friction = 0.6});
      add_box(d, "box", {0.1, 0.08, 0.05}, 1.0, {0, 0, 0.05}, {.friction = 0.6},
              Quaternion(1.0, tilt, 0.7 * tilt, 0.0).normalized());
      Scene scene(d, 0.002, law);
      scene.step();
      EXPECT_LT(scene.report.residual, 1e-12) << tilt;
      const ContactRows& rows = scene.work.rows;
      for (const Item& item : rows.items()) {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(rows.mode[rows.row_of(item) + i], RowMode::hold) << tilt;
      }
    }
  }
}

// A ball that spins and lands without bouncing: v+ = (v + 2/5 r w) / (1 + 2/5), whatever its height when the
// step begins.
TEST(rolling, a_spinning_ball_that_lands_rolls_at_five_sevenths) {
  for (const double height : {0.0, 6e-3, 9.5e-3}) {
    Description d = empty_world();
    add_floor(d, {.friction = 1.0});
    add_ball(d, "ball", radius, 1.0, {0, 0, radius + height}, {.friction = 1.0});
    Scene scene(d, 0.002);
    scene.state.v << 0.3, 0.0, -5.0, 0.0, 2.0, 0.0;
    scene.step();
    const double expected = (0.3 + 0.4 * radius * 2.0) / 1.4;
    EXPECT_NEAR(scene.velocity(0)[0], expected, 0.15 * height + 1e-12) << height;
  }
}

}  // namespace
}  // namespace articula::testing::rolling_test
