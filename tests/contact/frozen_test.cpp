// Modes that are held: where contacts change their names, where detection looks farther than it began, where
// rows cannot follow.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "articula/derivatives/impulse.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"

namespace articula::frozen_test {
namespace {

// A block on a slide, on a table of just its size: corners over corners.
Model equal_blocks() {
  return build(parse_mjcf(R"(<mujoco><worldbody>
      <geom name="table" type="box" size="0.1 0.1 0.05" pos="0 0 -0.05"/>
      <body name="block"><joint name="slide" type="slide" axis="0 0 1"/>
        <geom type="box" size="0.1 0.1 0.05" pos="0 0 0.05" mass="1"/></body></worldbody></mujoco>)"));
}

TEST(FrozenModes, contacts_of_equal_faces_keep_their_modes_when_corners_change) {
  const Model model = equal_blocks();
  State start = neutral_state(model);
  start.v[0] = -0.01;
  DisturbedStep step(model, complete(model, {}));
  ASSERT_TRUE(step.begin(start, {}));
  const auto held_contacts = [&] {
    const ContactRows& rows = step.contact()->rows;
    int count = 0;
    for (const Item& item : rows.items())
      count += item.kind == RowKind::contact && rows.mode[rows.row_of(item)] == RowMode::hold;
    return count;
  };
  ASSERT_EQ(held_contacts(), 4);
  EXPECT_NEAR(step.end().v[0], 0.0, 1e-12);
  step.hold_modes(true);
  const auto pose = model.parameters().matching("geometry/table/placement");
  ASSERT_FALSE(pose.empty());
  VectorX x(step.outputs());
  for (const Vector2& shift :
       {Vector2(1, 0), Vector2(0, 1), Vector2(1, 1), Vector2(1, -1), Vector2(-1, 0.3)}) {
    VectorX dz = VectorX::Zero(step.layout().size);
    dz.segment<2>(step.layout().theta + pose[0].offset) = shift;
    ASSERT_TRUE(step.at(dz, 1e-7, x));
    EXPECT_EQ(held_contacts(), 4);
    EXPECT_NEAR(x[1], 0.0, 1e-12);
  }
  // One that is gone for good is not found elsewhere.
  VectorX dz = VectorX::Zero(step.layout().size);
  dz[step.layout().theta + pose[0].offset] = 1.0;
  ASSERT_TRUE(step.at(dz, 0.05, x));
  EXPECT_EQ(held_contacts(), 2);
}

// Where the held contacts of a body are gone, it falls.
TEST(FrozenModes, contacts_hold_bodies_that_a_difference_lifts_off) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
      </worldbody></mujoco>)"));
  DisturbedStep step(model, complete(model, {.dt = 0.001}));
  ASSERT_TRUE(step.begin(neutral_state(model), {}));
  step.hold_modes(true);
  VectorX x(step.outputs()), dz = VectorX::Zero(step.layout().size);
  dz[step.layout().q + 2] = 1.0;
  for (const double lift : {1e-3, 1e-4, 1e-5, -1e-4}) {
    ASSERT_TRUE(step.at(dz, lift, x));
    EXPECT_NEAR(x[model.nv() + 2], -lift / 0.001, 1e-9) << lift;
  }
}

// A rim has sixteen points, and two squares an eighth of a turn apart cross in eight: which four carry most
// changes with the slightest tilt.
TEST(FrozenModes, contacts_stay_where_others_would_carry_more) {
  const char* const standing[] = {R"(<geom type="cylinder" size="0.04 0.05" mass="0.3"/>)",
                                  R"(<geom type="box" size="0.1 0.1 0.05" euler="0 0 45" mass="0.3"/>)"};
  for (const char* geom : standing) {
    const Model model = build(parse_mjcf(std::string(R"(<mujoco><worldbody>
        <geom type="box" size="0.1 0.1 0.05" pos="0 0 -0.05"/><body pos="0 0 0.05"><freejoint/>)") +
                                         geom + "</body></worldbody></mujoco>"));
    DisturbedStep step(model, complete(model, {.dt = 0.002}));
    ASSERT_TRUE(step.begin(neutral_state(model), {}));
    step.hold_modes(true);
    for (int i = 0; i < 24; ++i) {
      const double tilt = (i % 3 == 0 ? 1e-4 : i % 3 == 1 ? 1e-5 : 1e-6), angle = 0.7 * i;
      VectorX x(step.outputs()), dz = VectorX::Zero(step.layout().size);
      dz[step.layout().q + 3] = std::cos(angle);
      dz[step.layout().q + 4] = std::sin(angle);
      ASSERT_TRUE(step.at(dz, tilt, x));
      const VectorX turn = x.segment<2>(model.nv() + 3);
      EXPECT_NEAR(turn[0], -std::cos(angle) * tilt / 0.002, 1e-5 * tilt / 0.002) << geom << i;
      EXPECT_NEAR(turn[1], -std::sin(angle) * tilt / 0.002, 1e-5 * tilt / 0.002) << geom << i;
    }
  }
}

// A disc with many corners above a floor, and a heavy ball that comes down on it.
Model struck_disc() {
  std::string corners;
  for (int i = 0; i < 24; ++i) {
    const double angle = 0.2618 * i, x = std::cos(angle), y = std::sin(angle);
    corners += fmt::format("{:.3f} {:.3f} -0.02 {:.3f} {:.3f} 0.02 ", 0.1 * x, 0.1 * y, 0.09 * x, 0.09 * y);
  }
  return build(parse_mjcf(fmt::format(R"(<mujoco><option timestep="0.002"/>
      <asset><mesh name="disc" vertex="{}"/></asset>
      <worldbody><geom type="plane" size="2 2 .1"/>
        <body pos="0 0 0.1"><freejoint/><geom type="mesh" mesh="disc" mass="0.1"/></body>
        <body pos="0.05 0 0.2"><freejoint/><geom type="sphere" size="0.05" mass="5"/></body>
      </worldbody></mujoco>)",
                                      corners)));
}

// What a blow makes faster is looked at again, farther; then other corners are kept than at first.
TEST(FrozenModes, keep_the_corners_of_a_face_that_the_step_found) {
  const Model model = struck_disc();
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    for (const auto& [above, tilt, at] :
         {std::tuple{Vector2(-0.0795, -0.1082), Vector2(-0.0118, 0.0132), Vector2(0.0470, 0.0262)},
          std::tuple{Vector2(-0.0790, -0.1123), Vector2(0.0170, 0.0348), Vector2(0.0216, -0.0107)}}) {
      State start = neutral_state(model);
      VectorX shift = VectorX::Zero(model.nv());
      shift[2] = above[0], shift[8] = above[1];
      shift.segment<2>(3) = tilt;
      shift.segment<2>(6) = at;
      const VectorX q = start.q;
      integrate(model, q, shift, 1.0, start.q);
      start.v[8] = -5.0;
      DisturbedStep step(model, complete(model, {.contact = law}));
      ASSERT_TRUE(step.begin(start, {}));
      ASSERT_EQ(step.report().contact, SolveStatus::solved);
      step.hold_modes(true);
      VectorX x(step.outputs());
      ASSERT_TRUE(step.at(VectorX::Zero(step.layout().size), 0.0, x));
      EXPECT_LT((x.tail(model.nv()) - step.end().v).norm(), 1e-9);
    }
  }
}

// Friction of a contact that is held goes on where it pulls: against the normal impulse, n = m (v_z+ - v_z).
TEST(FrozenModes, contacts_that_slide_pull_with_friction_along_their_slip) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody><geom type="plane" size="0 0 1"/>
      <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="1" friction="0.5"/></body>
      </worldbody></mujoco>)"));
  constexpr double h = 0.001, mu = 1.0;  // the plane's
  State start = neutral_state(model);
  start.v << 0.3, 0.4, 0.0;
  DisturbedStep step(model, complete(model, {.dt = h}));
  ASSERT_TRUE(step.begin(start, {}));
  step.hold_modes(true);
  VectorX x(step.outputs()), dz = VectorX::Zero(step.layout().size);
  dz[step.layout().q + 2] = 1.0;
  for (const double lift : {1e-4, 1e-5, -1e-4}) {
    ASSERT_TRUE(step.at(dz, lift, x)) << lift;
    const double n = -lift / h + 9.81 * h, speed = 0.5 - mu * n;
    EXPECT_NEAR(x[3], 0.6 * speed, 1e-10) << lift;
    EXPECT_NEAR(x[4], 0.8 * speed, 1e-10) << lift;
    EXPECT_NEAR(x[5], -lift / h, 1e-10) << lift;
  }
}

// A board that stands on its lower edge, and whose upper edge leans on a wall that glides down.
Model leaning_board() {
  const double angle = 0.3, c = std::cos(angle), s = std::sin(angle);
  return build(parse_mjcf(fmt::format(R"(<mujoco><option timestep="0.002"/>
      <worldbody><geom type="plane" size="2 2 .1"/>
        <body pos="2e-6 0 {:.17g}" quat="{:.17g} 0 {:.17g} 0"><freejoint/>
          <geom type="box" size="0.01 0.2 0.5" mass="1"/></body>
        <body pos="{:.17g} 0 0.9"><joint type="slide" axis="0 0 1"/>
          <geom type="box" size="0.1 0.5 0.5" mass="10" friction="0.1" priority="1"/></body>
      </worldbody></mujoco>)",
                                      0.01 * s + 0.5 * c - 1e-6, std::cos(0.5 * angle), std::sin(0.5 * angle),
                                      0.01 * c + 0.5 * s + 0.1)));
}

// Four edges' ends cannot all follow a board that is twisted: what they miss is granted, and loads that have
// no part in it stay what they are.
TEST(FrozenModes, have_a_step_where_rows_beside_what_slides_cannot_follow) {
  const Model model = leaning_board();
  State start = neutral_state(model);
  start.v[6] = -0.5;
  const SimulationSettings settings = complete(model, {.contact = Contact::ncp});
  DisturbedStep step(model, settings);
  ASSERT_TRUE(step.begin(start, {}));
  Data data(model);
  ImpulseWork work(model);
  ImpulseDerivatives derivatives(model);
  WarmStart cold;
  State end = start;
  ASSERT_EQ(impulse_step(model, data, work, impulse_settings(settings), {}, end, cold).status,
            StepStatus::ok);
  ASSERT_TRUE(derivatives.prepare(model, data, work, impulse_settings(settings)));
  step.hold_modes(true);
  VectorX w(derivatives.unknowns()), dx(step.outputs()), ahead = dx, behind = dx;
  double inconsistency = 0.0;
  for (int turn = 3; turn < 6; ++turn) {
    const VectorX dz = VectorX::Unit(step.layout().size, turn);
    push_forward(derivatives, dz, w, dx);
    inconsistency = std::max(inconsistency, derivatives.certificate().inconsistency);
    constexpr double t = 1e-7;
    ASSERT_TRUE(step.at(dz, t, ahead));
    ASSERT_TRUE(step.at(dz, -t, behind));
    EXPECT_LT(((ahead - behind) / (2.0 * t) - dx).norm(), 1e-7 * dx.norm()) << turn;
  }
  EXPECT_GT(inconsistency, 0.1) << "the case that this is about";
}

}  // namespace
}  // namespace articula::frozen_test
