// Capsules that are nearly parallel cross elsewhere from one moment to the next: the step ends without an
// overlap all the same.

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "articula/collision/narrowphase.hpp"
#include "tests/support/disturbed_step.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::crossing_test {
namespace {

constexpr double dt = 1e-3, radius = 0.012, half = 0.09;

// A leg lies across another at a small angle, `gap` above it, moves sideways, so that they cross farther
// along with every moment, and turns down there. All about where they cross.
struct Brush {
  double gap = 1e-6, angle = 0.12, sideways = 2.0, turning = -30.0, spin = 0.0, shift = 0.0;
};

void add_leg(Description& d, const std::string& name, double mass, const Vector3& at,
             const Quaternion& turn) {
  add_box(d, name, Vector3(radius, radius, half), mass, at, {}, turn);
  d.geometries.back().type = ShapeType::capsule;
  d.geometries.back().size = Vector3(radius, half, 0);
}

Scene brushing_legs(const Brush& brush, FrictionLaw law) {
  const Quaternion lying(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vector3::UnitY()));
  const Quaternion across = Quaternion(Eigen::AngleAxisd(brush.angle, Vector3::UnitZ())) * lying;
  const Vector3 above(0, 0, 2 * radius + brush.gap), from_centre = across * Vector3(0, 0, brush.shift);
  Description d = empty_world();
  add_leg(d, "below", 3.0, Vector3::Zero(), lying);
  add_leg(d, "above", 0.3, above - from_centre, across);
  Scene scene(d, dt, law);
  const Vector3 w(0, brush.turning, brush.spin);
  scene.velocity(1) = Vector3(0, brush.sideways, 0) - w.cross(from_centre);
  scene.state.v.segment<3>(9) = across.conjugate() * w;
  return scene;
}

double distance_of(const State& state) {
  const auto placed = [&](int body) {
    const auto q = state.q.segment<7>(7 * body);
    return Placement{Mat3::from(Quaternion(q[3], q[4], q[5], q[6]).toRotationMatrix()),
                     Vec3(Vector3(q.head<3>()))};
  };
  const collision::Shape leg = collision::Shape::capsule(radius, half);
  return collision::distance(leg, placed(0), leg, placed(1)).distance;
}

// The row of the two axes knows of no approach: where they cross now they stay as far apart as they are.
TEST(crossing, legs_that_come_to_cross_farther_along_do_not_overlap_there) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (const double turning : {-30.0, -20.0}) {
      Scene scene = brushing_legs({.turning = turning}, law);
      scene.step();
      EXPECT_FALSE(scene.work.contacts.passing.empty());
      EXPECT_GT(distance_of(scene.state), -1e-4) << turning;
    }
  }
}

TEST(crossing, an_overlap_does_not_grow_while_they_run_along_each_other) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene = brushing_legs({.gap = -6e-4}, law);
    scene.step();
    EXPECT_FALSE(scene.work.contacts.passing.empty());
    EXPECT_GT(distance_of(scene.state), -6e-4 + 0.2 * dt - 1e-4);
  }
}

TEST(crossing, however_they_brush_no_step_ends_in_a_deep_overlap) {
  std::mt19937 random(3);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int called = 0;
  for (int i = 0; i < 400; ++i) {
    const Brush brush{uniform(0.0, 2e-4),   uniform(0.05, 0.6),   uniform(-4.0, 4.0),
                      uniform(-40.0, 40.0), uniform(-30.0, 30.0), uniform(-0.03, 0.03)};
    Scene scene = brushing_legs(brush, i % 2 == 0 ? FrictionLaw::cone : FrictionLaw::pyramid);
    scene.step();
    called += !scene.work.contacts.passing.empty();
    EXPECT_GT(distance_of(scene.state), -2e-4) << "brush " << i;
  }
  EXPECT_GT(called, 50);
}

TEST(crossing, slow_legs_and_those_that_part_have_no_more_rows_than_their_own) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (const Brush& brush : {Brush{.sideways = 0.2, .turning = -3.0}, Brush{.turning = 0.0}}) {
      Scene scene = brushing_legs(brush, law);
      scene.step();
      EXPECT_TRUE(scene.work.contacts.passing.empty());
    }
  }
}

TEST(crossing, a_warm_start_changes_nothing) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene cold = brushing_legs({}, law), again = brushing_legs({}, law);
    cold.step();
    again.warm = cold.warm;
    again.step();
    EXPECT_EQ(cold.state.q, again.state.q);
    EXPECT_EQ(cold.state.v, again.state.v);
  }
}

TEST(crossing, derivatives_follow_the_point_of_the_axis) {
  std::mt19937 random(9);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene = brushing_legs({}, law);
    DisturbedStep step(scene);
    const StepInputs& at = step.layout();
    VectorX all = VectorX::Zero(at.size);
    all.segment(at.q, 12) = uniform_vector(random, 12);
    all.segment(at.v, 12) = uniform_vector(random, 12);
    const VectorX geometry = parameter_direction(scene.model, at, ParameterKind::geometry, random);
    for (const VectorX& dz : {all, geometry}) {
      const VectorX dx = step.along(dz), reference = step.difference_along(dz);
      EXPECT_GT(reference.norm(), 1e-3);
      EXPECT_LT((dx - reference).cwiseAbs().maxCoeff(), 1e-6 * reference.cwiseAbs().maxCoeff());
      const VectorX x_bar = uniform_vector(random, step.outputs());
      EXPECT_NEAR(step.against(x_bar).dot(dz), x_bar.dot(dx), 1e-9 * (1.0 + dx.norm()));
    }
    Scene stepped = brushing_legs({}, law);
    stepped.step();
    double carried = 0.0;
    for (const Item& item : stepped.work.rows.items()) {
      if (item.kind == RowKind::contact && item.index >= stepped.work.contacts.passing_begin)
        carried = std::max(carried, stepped.work.rows.lam[stepped.work.rows.row_of(item)]);
    }
    EXPECT_GT(carried, 1e-3);
  }
}

}  // namespace
}  // namespace articula::testing::crossing_test
