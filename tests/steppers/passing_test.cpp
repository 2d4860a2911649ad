// Edges that come to cross far from where the bodies were near: the step ends without an overlap all the
// same.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "articula/collision/narrowphase.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/disturbed_step.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::passing_test {
namespace {

constexpr double dt = 1e-3;
const Vector3 plate(0.13, 0.065, 0.02), bar(0.2, 0.012, 0.012);

// A bar lies with an edge across one end of a plate, tilted so that it is `gap` above the other end, and
// comes down there with `speed`.
struct Swing {
  double gap = 7e-3, speed = 9.0, roll = 0.8, yaw = 0.0, shift = 0.0;
};

Scene swinging_bar(const Swing& swing, FrictionLaw law) {
  const double tilt = std::asin(swing.gap / (2 * plate[0]));
  const Quaternion turn(Eigen::AngleAxisd(swing.yaw, Vector3::UnitZ()) *
                        Eigen::AngleAxisd(tilt, Vector3::UnitY()) *
                        Eigen::AngleAxisd(swing.roll, Vector3::UnitX()));
  // The lowest edge of the bar is this far below its axis.
  const double below = bar[1] * (std::cos(swing.roll) + std::sin(swing.roll));
  const Vector3 on_edge(plate[0], 0, plate[2] + 1e-6);
  const Vector3 up = turn * (Eigen::AngleAxisd(-swing.roll, Vector3::UnitX()) * Vector3::UnitZ());
  const Vector3 along = turn * Vector3::UnitX();
  Description d = empty_world();
  add_box(d, "plate", plate, 3.0, Vector3::Zero());
  add_box(d, "bar", bar, 2.0, on_edge + up * below - along * (plate[0] + swing.shift), {}, turn);
  Scene scene(d, dt, law);
  // Turns about where it lies.
  const Vector3 w = turn * (Eigen::AngleAxisd(-swing.roll, Vector3::UnitX()) *
                            Vector3(0, -swing.speed / (2 * plate[0]), 0));
  scene.velocity(1) = w.cross(scene.position(1) - on_edge);
  scene.state.v.segment<3>(9) = turn.conjugate() * w;
  return scene;
}

Placement placed(const State& state, int body) {
  const auto q = state.q.segment<7>(7 * body);
  return {Mat3::from(Quaternion(q[3], q[4], q[5], q[6]).toRotationMatrix()), Vec3(Vector3(q.head<3>()))};
}

double distance_after(const State& state) {
  using collision::Shape;
  return collision::distance(Shape::box(plate[0], plate[1], plate[2]), placed(state, 0),
                             Shape::box(bar[0], bar[1], bar[2]), placed(state, 1))
      .distance;
}

// Without the row the bar would end below the surface by what it falls farther than its gap.
TEST(passing, a_bar_that_swings_onto_the_other_end_of_a_plate_stops_there) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (const double gap : {6e-3, 8e-3}) {
      for (const double yaw : {0.0, 0.2}) {
        Scene scene = swinging_bar({.gap = gap, .speed = 11.0, .yaw = yaw}, law);
        scene.step();
        EXPECT_FALSE(scene.work.contacts.passing.empty());
        EXPECT_GT(distance_after(scene.state), -1e-4) << gap << ", yaw " << yaw;
      }
    }
  }
}

TEST(passing, whatever_the_swing_no_step_ends_in_a_deep_overlap) {
  std::mt19937 random(5);
  int called = 0;
  for (int i = 0; i < 400; ++i) {
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const Swing swing{uniform(5.5e-3, 1.2e-2), uniform(3.0, 16.0), uniform(0.2, 1.3), uniform(-0.3, 0.3),
                      uniform(-0.05, 0.05)};
    Scene scene = swinging_bar(swing, i % 2 == 0 ? FrictionLaw::cone : FrictionLaw::pyramid);
    scene.step();
    called += !scene.work.contacts.passing.empty();
    EXPECT_GT(distance_after(scene.state), -2.5e-4) << "swing " << i;
  }
  EXPECT_GT(called, 100);
}

// A bar that ends before the other end of the plate comes down on nothing but its corners, and one that is
// slow enough on nothing at all.
TEST(passing, what_does_not_come_to_cross_has_no_row_for_it) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene slow = swinging_bar({.gap = 8e-3, .speed = 7.0}, law);
    slow.step();
    EXPECT_TRUE(slow.work.contacts.passing.empty());
    // Its far end is over the plate: the corners there are seen from the start.
    Scene shorter = swinging_bar({.gap = 7e-3, .speed = 9.0, .shift = -0.15}, law);
    shorter.step();
    for (const collision::PassingFeatures& f : shorter.work.contacts.passing)
      EXPECT_FALSE(f.feature_a.kind == collision::FeatureKind::line &&
                   f.feature_b.kind == collision::FeatureKind::line);
    EXPECT_GT(distance_after(shorter.state), -2.5e-4);
  }
}

TEST(passing, a_warm_start_changes_nothing) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene cold = swinging_bar({}, law), again = swinging_bar({}, law);
    cold.step();
    again.warm = cold.warm;
    again.step();
    EXPECT_EQ(cold.state.q, again.state.q);
    EXPECT_EQ(cold.state.v, again.state.v);
  }
}

TEST(passing, derivatives_follow_the_features_that_meet) {
  std::mt19937 random(9);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene = swinging_bar({.yaw = 0.1}, law);
    DisturbedStep step(scene);
    const StepInputs& at = step.layout();
    VectorX all = VectorX::Zero(at.size), geometry;
    all.segment(at.q, 12) = uniform_vector(random, 12);
    all.segment(at.v, 12) = uniform_vector(random, 12);
    geometry = parameter_direction(scene.model, at, ParameterKind::geometry, random);
    for (const VectorX& dz : {all, geometry}) {
      const VectorX dx = step.along(dz), reference = step.difference_along(dz);
      EXPECT_GT(reference.norm(), 1e-3);
      EXPECT_LT((dx - reference).cwiseAbs().maxCoeff(), 1e-6 * reference.cwiseAbs().maxCoeff());
      const VectorX x_bar = uniform_vector(random, step.outputs());
      EXPECT_NEAR(step.against(x_bar).dot(dz), x_bar.dot(dx), 1e-9 * (1.0 + dx.norm()));
    }
    // The row that was called for carries the blow.
    Scene stepped = swinging_bar({.yaw = 0.1}, law);
    stepped.step();
    double carried = 0.0;
    for (const Item& item : stepped.work.rows.items()) {
      if (item.kind == RowKind::contact && item.index >= stepped.work.contacts.passing_begin)
        carried = std::max(carried, stepped.work.rows.lam[stepped.work.rows.row_of(item)]);
    }
    EXPECT_GT(carried, 0.1);
  }
}

// Numbers whose squares overflow: a step has a status or an end, and looks at nothing that is not there.
TEST(passing, speeds_without_bounds_end_in_a_status) {
  const Model model = build(parse_mjcf(R"(<mujoco><option timestep="0.002"/><worldbody>
      <body><freejoint/><geom type="box" size="0.1 0.08 0.12" mass="1"/></body>
      <body pos="0.21 0 0"><freejoint/><geom type="capsule" size="0.05 0.1" euler="80 20 0" mass="1"/></body>
      <body pos="0 0.2 0.01"><freejoint/><geom type="box" size="0.1 0.1 0.1" euler="5 7 9" mass="1"/></body>
      </worldbody></mujoco>)"));
  std::mt19937 random(8);
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.contact = law});
    for (int power = 6; power < 300; power += 2) {
      State x = neutral_state(model);
      x.v = std::pow(10.0, power) * uniform_vector(random, model.nv(), 1.0);
      const Step step = simulation.step(x);
      EXPECT_TRUE(step.next.q.allFinite() && step.next.v.allFinite()) << power;
    }
  }
}

}  // namespace
}  // namespace articula::testing::passing_test
