// Contact against what is known: sliding, sticking, bouncing, rolling, standing.

#include <gtest/gtest.h>

#include <numbers>

#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::contact_test {
namespace {

constexpr double g = 9.81;
const auto both_laws = {FrictionLaw::cone, FrictionLaw::pyramid};

// x = v^2 / (2 mu g) in the limit h -> 0; at step h the block stops after x + O(h), extrapolated in h.
TEST(contact, a_sliding_block_stops_after_v_squared_over_two_mu_g) {
  const double mu = 0.3, v = 2.0;
  for (const FrictionLaw law : both_laws) {
    for (const int axis : {0, 1}) {
      const auto distance = [&](double h) {
        Description d = empty_world();
        add_floor(d, {.friction = mu});
        add_box(d, "block", {0.2, 0.2, 0.05}, 2.0, {0, 0, 0.05}, {.friction = mu});
        Scene scene(d, h, law);
        scene.velocity(0)[axis] = v;
        scene.run(static_cast<int>(1.0 / h));
        EXPECT_LT(scene.state.v.norm(), 1e-12);
        EXPECT_LT(std::abs(scene.position(0)[1 - axis]), 1e-12) << "it slides straight";
        return scene.position(0)[axis];
      };
      const double h = v / (mu * g) / 400.0;
      const double coarse = distance(h), fine = distance(h / 2);
      EXPECT_NEAR(2.0 * fine - coarse, v * v / (2.0 * mu * g), 1e-6);
    }
  }
}

TEST(contact, a_block_on_an_incline_sticks_below_and_slides_above_the_angle_of_friction) {
  const double mu = 0.4, limit = std::atan(mu);
  // The floor is tilted about an axis in it; x, y and their opposites: the pyramid's bound is exact along its
  // tangents, which are along and across these slopes.
  for (const Vector3& axis : {Vector3(0, 1, 0), Vector3(0, -1, 0), Vector3(1, 0, 0), Vector3(-1, 0, 0)}) {
    for (FrictionLaw law : both_laws) {
      for (double side : {-1.0, 1.0}) {
        const double tilt = limit + side * 1e-6;
        const Quaternion turn(Eigen::AngleAxisd(tilt, axis));
        Description d = empty_world();
        add_floor(d, {.friction = mu});
        d.geometries.back().pose.rotation = turn;
        add_box(d, "block", {0.2, 0.2, 0.05}, 2.0, turn * Vector3(0, 0, 0.05), {.friction = mu}, turn);
        Scene scene(d, 0.001, law);
        scene.run(100);
        const double speed = scene.velocity(0).norm();
        if (side < 0.0)
          EXPECT_LT(speed, 1e-12);
        else
          EXPECT_NEAR(speed, 0.1 * g * std::cos(tilt) * (std::tan(tilt) - mu), 1e-9);
      }
    }
  }
}

TEST(contact, a_loaded_block_does_not_creep) {
  for (FrictionLaw law : both_laws) {
    Description d = empty_world();
    add_floor(d, {.friction = 0.8});
    add_box(d, "block", {0.1, 0.1, 0.1}, 1.0, {0, 0, 0.1}, {.friction = 0.8});
    Scene scene(d, 0.002, law);
    scene.input.forces[0] = 0.6 * g;
    const Vector3 before = scene.position(0);
    scene.run(5000);
    EXPECT_LT((scene.position(0) - before).norm() / 10.0, 1e-10);
    EXPECT_LT(scene.velocity(0).norm(), 1e-10);
  }
}

TEST(contact, a_bounce_returns_the_restitution_times_the_speed) {
  for (double e : {0.3, 0.7, 1.0}) {
    Description d = empty_world();
    d.gravity.setZero();
    add_floor(d, {.friction = 0.0, .restitution = e});
    add_ball(d, "ball", 0.1, 0.5, {0, 0, 0.2}, {.friction = 0.0, .restitution = e});
    Scene scene(d, 0.001);
    scene.settings.bounce_speed = 0.01;
    scene.velocity(0)[2] = -3.0;
    scene.run(100);
    EXPECT_NEAR(scene.velocity(0)[2], 3.0 * e, 1e-12 * 3.0);
  }
}

TEST(contact, heights_of_bounces_fall_by_the_square_of_the_restitution) {
  const double e = 0.8, height = 1.0;
  const auto first_height = [&](double h) {
    Description d = empty_world();
    add_floor(d, {.restitution = e});
    add_ball(d, "ball", 0.1, 0.5, {0, 0, 0.1 + height}, {.restitution = e});
    Scene scene(d, h);
    double top = 0.0;
    bool bounced = false;
    for (int i = 0; i < static_cast<int>(1.0 / h); ++i) {
      scene.step();
      bounced |= scene.velocity(0)[2] > 0.0;
      if (bounced) top = std::max(top, scene.position(0)[2] - 0.1);
    }
    return top;
  };
  EXPECT_NEAR(first_height(1e-3), e * e * height, 0.02);
  EXPECT_NEAR(first_height(1e-4), e * e * height, 0.002);
}

// Sliding turns into rolling at 5/7 of the speed; rolling friction then brakes it.
TEST(contact, a_sliding_ball_ends_up_rolling_at_five_sevenths) {
  Description d = empty_world();
  add_floor(d, {.friction = 0.3});
  add_ball(d, "ball", 0.1, 0.5, {0, 0, 0.1}, {.friction = 0.3});
  Scene scene(d, 0.001);
  scene.velocity(0)[0] = 1.4;
  scene.run(500);
  EXPECT_NEAR(scene.velocity(0)[0], 1.0, 1e-9);
  EXPECT_LT(std::abs(scene.velocity(0)[1]), 1e-12) << "a cone slides straight";
  EXPECT_NEAR(scene.state.v[4], 10.0, 1e-8);
}

// Torque mu_roll N against rolling: deceleration (mu_roll / r) g / (1 + 2/5).
TEST(contact, rolling_friction_brakes_a_ball) {
  const double roll = 0.002, r = 0.1;
  Description d = empty_world();
  const Material material{.friction = 1.0, .condim = 6, .spinning = 0.001, .rolling = roll};
  add_floor(d, material);
  add_ball(d, "ball", r, 0.5, {0, 0, r}, material);
  Scene scene(d, 0.001);
  scene.velocity(0)[0] = 1.0;
  scene.state.v[4] = 1.0 / r;
  scene.run(500);
  EXPECT_NEAR(scene.velocity(0)[0], 1.0 - 0.5 * roll / r * g / 1.4, 1e-4);
}

// A ball spinning in place: torque mu_spin N against 2/5 m r^2.
TEST(contact, spinning_friction_brakes_a_spinning_ball) {
  const double spin = 0.003, r = 0.1;
  Description d = empty_world();
  const Material material{.friction = 1.0, .condim = 4, .spinning = spin};
  add_floor(d, material);
  add_ball(d, "ball", r, 0.5, {0, 0, r}, material);
  Scene scene(d, 0.001);
  scene.state.v[5] = 20.0;
  scene.run(100);
  EXPECT_NEAR(scene.state.v[5], 20.0 - 0.1 * spin * g / (0.4 * r * r), 1e-8);
  scene.run(3000);
  EXPECT_LT(std::abs(scene.state.v[5]), 1e-12);
}

TEST(contact, ten_boxes_stand_on_each_other) {
  for (FrictionLaw law : both_laws) {
    Description d = empty_world();
    add_floor(d);
    for (int i = 0; i < 10; ++i)
      add_box(d, "box" + std::to_string(i), {0.1, 0.1, 0.1}, 1.0 + i % 3,
              {0.002 * (i % 4), 0.001 * (i % 3), 0.1 + 0.2 * i});
    Scene scene(d, 0.01, law);
    const VectorX before = scene.state.q;
    scene.run(200);
    EXPECT_LT((scene.state.q - before).norm(), 1e-9);
  }
}

// Momentum of two colliding bodies in free space.
TEST(contact, impacts_between_bodies_conserve_momentum) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    Description d = empty_world();
    d.gravity.setZero();
    const Material material{.friction = 0.6, .restitution = trial % 2 == 0 ? 0.0 : 0.5};
    add_box(d, "a", {0.1, 0.15, 0.2}, 1.0, {0, 0, 0}, material, random_rotation(random));
    add_box(d, "b", {0.1, 0.1, 0.1}, 3.0, {0.5, 0.05, 0.02}, material, random_rotation(random));
    Scene scene(d, 0.002);
    scene.velocity(0)[0] = 3.0;
    scene.state.v.tail<3>() = uniform_vector(random, 3);
    const auto momentum = [&] { return Vector3(scene.velocity(0) + 3.0 * scene.velocity(1)); };
    const Vector3 before = momentum();
    scene.run(200);
    EXPECT_LT((momentum() - before).norm(), 1e-12 * 3.0);
    EXPECT_GT(std::abs(scene.velocity(1)[0]), 0.01) << "they never met";
  }
}

// With e = 0 contact impulses do no work but what recovering from overlap takes.
TEST(contact, impulses_only_take_energy) {
  std::mt19937 random(11);
  for (FrictionLaw law : both_laws) {
    Description d = empty_world();
    add_floor(d);
    for (int i = 0; i < 5; ++i)
      add_box(d, "box" + std::to_string(i), {0.1, 0.12, 0.08}, 1.0, {0.05 * i, 0.02 * i, 0.3 + 0.3 * i},
              {.friction = 0.7}, random_rotation(random));
    Scene scene(d, 0.002, law);
    for (int i = 0; i < 1000 && !HasFatalFailure(); ++i) {
      scene.step();
      // Work of the impulses: lam . (J v+ + J v_free) / 2.
      const ContactRows& rows = scene.work.rows;
      std::vector<double> after(rows.size()), free(rows.size());
      rows.velocities(scene.work.v_next, after.data());
      rows.velocities(scene.work.v_free, free.data());
      double work = 0.0, allowed = 0.0;
      for (int r = 0; r < rows.size(); ++r) work += 0.5 * rows.lam[r] * (after[r] + free[r]);
      for (const Item& item : rows.items()) {
        const int r = rows.row_of(item);
        allowed += rows.lam[r] * std::max(-(rows.sigma[r] - after[r]), 0.0);
      }
      ASSERT_LE(work, allowed + 1e-12);
    }
  }
}

// No joint can part them, and no force that would is finite: they do not rub either. The oracle is the
// pendulum without the other box.
TEST(contact, links_that_overlap_along_the_axis_of_their_hinge_swing_freely) {
  const auto swing = [](const char* other) {
    const std::string text = std::string("<mujoco><worldbody>") + other +
                             R"(<body pos="0 0.05 0"><joint axis="0 1 0"/>
      <geom type="box" size="0.1 0.1 0.3" pos="0 0 -0.3"/></body></worldbody></mujoco>)";
    const Simulation simulation(build(parse_mjcf(text)));
    State x = neutral_state(simulation.model());
    x.q[0] = 0.5;
    for (int i = 0; i < 200; ++i) x = simulation.step(x).next;
    return x.q[0];
  };
  EXPECT_EQ(swing(R"(<geom type="box" size="0.2 0.05 0.2" pos="0 -0.05 0"/>)"), swing(""));
}

// Coming to rest from an overlap: no faster than the recovery speed.
TEST(contact, an_overlapping_start_recovers_at_a_bounded_speed) {
  Description d = empty_world();
  add_floor(d);
  add_box(d, "block", {0.1, 0.1, 0.1}, 1.0, {0, 0, 0.05});
  Scene scene(d, 0.001);
  for (int i = 0; i < 2000; ++i) {
    scene.step();
    ASSERT_LE(scene.velocity(0)[2], scene.settings.recovery_speed + 1e-9);
  }
  EXPECT_NEAR(scene.position(0)[2], 0.1, 1e-6);
}

// A catapult whose bar comes down on a block at 100 rad/s: in one step it turns into it by 0.9 mm. The impact
// takes a part of the speed, and that overlap is taken back at once; as slowly as one that was there at the
// start it would grow by 0.6 mm in every step.
TEST(contact, what_an_impact_leaves_overlapping_is_taken_back_at_once) {
  const Model model = load("catapult_planar");
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.dt = 0.001, .contact = law});
    Step step;
    step.next = neutral_state(model);
    step.next.q << -1.7657982881192043, 0.09280521192008134, -0.6604036568970473, -0.028985068464763335,
        -0.6785533905932738;
    step.next.v << -26.295923372311275, 88.12405970830864, -118.14113436892717, -1.429929783616852, 0.0;
    step.input.controls.resize(3);
    step.input.controls << 6.5045290149197115, 74.27930538044671, -75.79101796781607;
    double deepest = 0.0;
    for (int i = 0; i < 20; ++i) {
      simulation.step(step.next, step.input, step);
      deepest = std::max(deepest, step.report.deepest);
    }
    EXPECT_GT(deepest, 0.5e-3) << "the case that this is about";
    EXPECT_LT(deepest, 1e-3);
  }
}

// Both walls overlap the box and push it towards the other: it stays, held by their friction, and the status
// says that the biases cannot be met.
TEST(contact, a_box_squeezed_between_walls_stays) {
  Description d = empty_world();
  add_floor(d);
  add_box(d, "squeezed", {0.1, 0.1, 0.1}, 1.0, {0, 0, 0.1});
  for (double side : {-1.0, 1.0}) {
    GeometryDescription wall;
    wall.name = side < 0.0 ? "left" : "right";
    wall.type = ShapeType::box;
    wall.size = {0.02, 0.2, 0.2};
    wall.pose.position = {0.119 * side, 0.0, 0.2};
    d.geometries.push_back(wall);
  }
  for (const FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    Scene scene(d, 0.002, law);
    for (int i = 0; i < 300; ++i) {
      scene.step();
      ASSERT_EQ(scene.report.contact, SolveStatus::infeasible_bias) << i;
      ASSERT_LT(scene.report.residual, 1e-9) << i;
    }
    EXPECT_LT((scene.position(0) - Vector3(0, 0, 0.1)).norm(), 1e-6);
  }
}

// Rolls under an overhanging wall until friction holds it between wall and floor: what its curvature lets it
// overlap by in a step cannot be recovered from, and must not be paid for with impulses without end.
TEST(contact, an_ellipsoid_that_jams_under_an_overhang_stays) {
  const Model model = build(parse_mjcf(R"(
    <mujoco>
      <compiler angle="radian"/>
      <option timestep="0.001"/>
      <default><geom friction="0.9 0.01 0.002"/></default>
      <worldbody>
        <geom type="plane" size="9 9 1"/>
        <body pos="-0.4 0 0" euler="0 0.55 0"><geom type="box" size="0.05 0.4 0.5"/></body>
        <body name="stone" pos="0.1 0.02 0.12">
          <freejoint/>
          <geom type="ellipsoid" size="0.09 0.11 0.08" mass="2"/>
        </body>
      </worldbody>
    </mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    SCOPED_TRACE(to_string(law));
    Simulation simulation(model, {.contact = law});
    Step step;
    step.next = neutral_state(model);
    step.next.v << -2.0, 0.2, -0.5, 1.0, 2.0, -3.0;
    int jammed = 0;
    for (int i = 0; i < 400; ++i) {
      simulation.step(step.next, step.input, step);
      ASSERT_LT(step.report.contact, SolveStatus::inexact) << i;
      ASSERT_LT(step.report.residual, 1e-9) << i;
      ASSERT_LT(step.report.deepest, 1e-4) << i;
      for (const StepContact& contact : step.contacts) ASSERT_LT(contact.impulse.norm(), 100.0) << i;
      jammed += step.report.contact == SolveStatus::infeasible_bias;
    }
    EXPECT_GT(jammed, 0) << "it jams";
  }
}

}  // namespace
}  // namespace articula::testing::contact_test
