// Scenes with many contacts: sliding and colliding blocks, piles, robots that fall.

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::scenes_test {
namespace {

constexpr double g = 9.81;

// A triangular prism, a mesh, lies on one of its faces and slides along its axis: the load of its corners
// shifts as it pitches forward, the sum of their friction does not.
TEST(scenes, a_sliding_prism_decelerates_at_mu_g) {
  const double mu = 0.35;
  const Description d = parse_mjcf(R"(<mujoco><option timestep="0.001"/>
    <asset><mesh name="prism" vertex="-0.2 -0.1 0  -0.2 0.1 0  -0.2 0 0.15  0.2 -0.1 0  0.2 0.1 0  0.2 0 0.15"/></asset>
    <worldbody><geom type="plane" size="5 5 1" friction="0.35"/>
      <body pos="0 0 0"><freejoint/><geom type="mesh" mesh="prism" mass="1.5" friction="0.35"/></body>
    </worldbody></mujoco>)");
  for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene(d, 0.001, law);
    const Vector3 along = Vector3::UnitX();  // where the pyramid's bound is that of the cone
    scene.run(20);
    scene.velocity(0) = 3.0 * along;
    const double height = scene.position(0)[2];
    constexpr int steps = 500;
    for (int i = 0; i < steps; ++i) {
      const double before = scene.velocity(0).dot(along);
      scene.step();
      EXPECT_NEAR((before - scene.velocity(0).dot(along)) / 0.001, mu * g, 1e-3 * mu * g) << i;
    }
    EXPECT_NEAR(scene.velocity(0).dot(along), 3.0 - steps * 0.001 * mu * g, 1e-9);
    EXPECT_NEAR(scene.position(0)[2], height, 1e-9);
    EXPECT_LT(scene.velocity(0).cross(along).norm(), 1e-9) << "it slides straight";
  }
}

// A cube slides into one at rest. Whatever happens between them, the floor brakes each that slides with mu m
// g, in the step of the impact too.
TEST(scenes, a_cube_that_hits_a_cube_keeps_its_friction) {
  const double mu = 0.3, h = 0.001, masses[] = {1.0, 2.0};
  Description d = empty_world();
  add_floor(d, {.friction = mu});
  add_box(d, "fast", {0.1, 0.1, 0.1}, masses[0], {0, 0, 0.1}, {.friction = mu});
  add_box(d, "resting", {0.1, 0.1, 0.1}, masses[1], {0.3, 0, 0.1}, {.friction = mu});
  Scene scene(d, h);
  scene.velocity(0)[0] = 2.0;
  int alone = 0, together = 0;
  for (int i = 0; i < 400 && !HasFatalFailure(); ++i) {
    const double before = masses[0] * scene.velocity(0)[0] + masses[1] * scene.velocity(1)[0];
    scene.step();
    const double after = masses[0] * scene.velocity(0)[0] + masses[1] * scene.velocity(1)[0];
    double braked = 0.0;
    for (int body = 0; body < 2; ++body) {
      const double speed = scene.velocity(body)[0];
      if (speed > 1e-9) braked += masses[body];
    }
    // The last step of a body that comes to rest needs less.
    if (scene.velocity(0)[0] < mu * g * h) break;
    EXPECT_NEAR(before - after, mu * braked * g * h, 1e-3 * mu * braked * g * h) << i;
    alone += braked == masses[0];
    together += braked == masses[0] + masses[1];
  }
  EXPECT_GT(alone, 30) << "it slides before they meet";
  EXPECT_GT(together, 100) << "they slide on together";
  EXPECT_NEAR(scene.position(1)[0] - scene.position(0)[0], 0.2, 1e-4);
}

// A lattice of boxes, each turned a little, falls in a heap.
Description pile(int boxes, std::mt19937& random) {
  Description d = empty_world();
  add_floor(d, {.friction = 0.6});
  for (int i = 0; i < boxes; ++i) {
    const int layer = i / 9, in_layer = i % 9;
    const Vector3 at(0.24 * (in_layer % 3) + 0.03 * (layer % 2), 0.24 * (in_layer / 3) - 0.02 * (layer % 3),
                     0.14 + 0.24 * layer);
    const Quaternion turn(Eigen::AngleAxisd(uniform(random, -0.3, 0.3), random_direction(random)));
    add_box(d, "box" + std::to_string(i), {0.1, 0.1, 0.1}, 1.0, at, {.friction = 0.6}, turn);
  }
  return d;
}

TEST(scenes, a_pile_of_boxes_settles) {
  const int boxes = std::max(8, cases(18, 100));  // fewer are no pile
  std::mt19937 random(5);
  Scene scene(pile(boxes, random), 0.005);
  const auto step = [&] {
    scene.report = impulse_step(scene.model, scene.data, scene.work, scene.settings, scene.input, scene.state,
                                scene.warm);
    ASSERT_EQ(scene.report.status, StepStatus::ok);
    ASSERT_FALSE(scene.report.overflow);
    ASSERT_LT(scene.report.residual, 1e-4) << "worse than flagged";
  };
  const double limit = 8.0;
  double deepest = 0.0;
  while (scene.state.time < limit && !HasFatalFailure()) {
    step();
    deepest = std::max(deepest, scene.report.deepest);
    if (scene.state.time > 1.0 && scene.state.v.lpNorm<Eigen::Infinity>() < 1e-9) break;
  }
  EXPECT_LT(scene.state.time, limit) << "still moving at " << scene.state.v.lpNorm<Eigen::Infinity>();
  EXPECT_LT(deepest, 0.01);
  const VectorX rest = scene.state.q;
  for (int i = 0; i < 20 && !HasFatalFailure(); ++i) step();
  EXPECT_LT((scene.state.q - rest).norm(), 1e-8);
}

// Boxes turned at random, dropped into a bin of 0.6 m.
Description bin_of_boxes(int boxes, std::mt19937& random) {
  constexpr double inside = 0.3, thick = 0.02, high = 3.0;
  Description d = empty_world();
  add_floor(d, {.friction = 0.6});
  for (int side = 0; side < 4; ++side) {
    const int axis = side / 2;
    GeometryDescription wall;
    wall.name = "wall" + std::to_string(side);
    wall.type = ShapeType::box;
    wall.size = Vector3(inside, inside, high);
    wall.size[axis] = thick;
    wall.pose.position[axis] = (side % 2 == 0 ? 1.0 : -1.0) * (inside + thick);
    wall.pose.position[2] = high;
    d.geometries.push_back(wall);
  }
  for (int i = 0; i < boxes; ++i) {
    const Vector3 at(0.19 * (i % 3 - 1), 0.19 * (i / 3 % 3 - 1), 0.12 + 0.18 * (i / 9));
    const Quaternion turn(Eigen::AngleAxisd(uniform(random, -3.0, 3.0), random_direction(random)));
    add_box(d, "box" + std::to_string(i), {0.05, 0.05, 0.05}, 0.5, at, {.friction = 0.6}, turn);
  }
  return d;
}

// They end as a few islands of some hundred rows, in which loads are shared in many ways: once these are
// found, a step costs a few factors, not a search.
TEST(scenes, boxes_dropped_into_a_bin_settle_under_both_laws) {
  for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    std::mt19937 random(1);
    Scene scene(bin_of_boxes(std::max(9, cases(20, 100)), random), 0.002, law);
    const double limit = 8.0;
    while (scene.state.time < limit && !HasFatalFailure()) {
      scene.step();
      EXPECT_NE(scene.report.contact, SolveStatus::inexact);
      EXPECT_LT(scene.report.deepest, 1e-3);
      if (scene.state.time > 1.0 && scene.state.v.lpNorm<Eigen::Infinity>() < 1e-9) break;
    }
    EXPECT_LT(scene.state.time, limit) << "still moving at " << scene.state.v.lpNorm<Eigen::Infinity>();
    const VectorX rest = scene.state.q;
    for (int i = 0; i < 20 && !HasFatalFailure(); ++i) {
      scene.step();
      EXPECT_LT(scene.report.iterations, 100);
    }
    EXPECT_LT((scene.state.q - rest).norm(), 1e-8);
  }
}

// Layers of bricks, each on four of the layer below: loads are shared in so many ways that the smallest
// impulses are not found at once. Those of the step before hold the wall all the same, and nothing creeps.
TEST(scenes, interlocked_bricks_stand_at_the_cost_of_a_few_factors_a_step) {
  for (FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Description d = empty_world();
    add_floor(d, {.friction = 0.6});
    for (int i = 0; i < 27; ++i) {
      const int layer = i / 9;
      const Vector3 at(0.202 * (i % 3) + 0.1 * (layer % 2), 0.202 * (i / 3 % 3) + 0.1 * (layer % 2),
                       0.1 + 0.2 * layer);
      add_box(d, "brick" + std::to_string(i), {0.1, 0.1, 0.1}, 8.0, at, {.friction = 0.6});
    }
    Scene scene(d, 0.002, law);
    const VectorX rest = scene.state.q;
    for (int i = 0; i < 100 && !HasFatalFailure(); ++i) {
      scene.step();
      ASSERT_NE(scene.report.contact, SolveStatus::inexact);
      if (i > 0) EXPECT_LT(scene.report.iterations, 20) << i;
      EXPECT_LT(scene.state.v.lpNorm<Eigen::Infinity>(), 1e-10) << i;
    }
    EXPECT_LT((scene.state.q - rest).norm(), 1e-10);
  }
}

TEST(scenes, separate_boxes_cost_linearly_in_their_number) {
  const auto cost = [](int boxes) {
    Description d = empty_world();
    add_floor(d);
    for (int i = 0; i < boxes; ++i)
      add_box(d, "box" + std::to_string(i), {0.1, 0.1, 0.1}, 1.0, {0.5 * (i % 10), 0.5 * (i / 10), 0.1});
    Scene scene(d, 0.002);
    for (int i = 0; i < boxes; ++i) scene.velocity(i)[0] = 1.0;
    scene.step();
    return scene.report;
  };
  const StepReport one = cost(1);
  ASSERT_EQ(one.rows, 12);
  for (const int n : {10, 60}) {
    const StepReport many = cost(n);
    EXPECT_EQ(many.rows, n * one.rows);
    EXPECT_EQ(many.islands, n * one.islands);
    EXPECT_EQ(many.iterations, n * one.iterations);
  }
}

// Work of all impulses of a step, lam . (J v+ + J v_free) / 2, is at most what the biases ask for: lifting
// out of overlap, and pulling loops closed. e = 0, robots under random controls.
TEST(scenes, impulses_on_robots_do_no_work_beyond_recovery) {
  for (const char* name : {"humanoid", "quadruped", "spider", "biped", "boxes_and_balls"}) {
    const Model model = load(name);
    for (const Contact law : {Contact::ncp, Contact::lcp}) {
      StepWorkspace workspace(model, complete(model, {.contact = law}));
      std::mt19937 random(13);
      Step step;
      step.next = neutral_state(model);
      step.next.v = uniform_vector(random, model.nv());
      int touching = 0;
      for (int i = 0; i < 400; ++i) {
        if (i % 20 == 0) step.input.controls = uniform_vector(random, model.nu());
        workspace.step(step.next, step.input, step);
        ASSERT_TRUE(step.ok());
        const ContactRows& rows = workspace.contact->rows;
        touching += rows.size() > 0;
        std::vector<double> after(rows.size()), free(rows.size());
        rows.velocities(workspace.contact->v_next, after.data());
        rows.velocities(workspace.contact->v_free, free.data());
        double work = 0.0, allowed = 0.0, size = 0.0;
        for (int r = 0; r < rows.size(); ++r) {
          work += 0.5 * rows.lam[r] * (after[r] + free[r]);
          size += std::abs(rows.lam[r] * after[r]) + std::abs(rows.lam[r] * free[r]);
        }
        for (const Item& item : rows.items()) {
          for (int k = 0; k < item.rows; ++k) {
            const int r = rows.row_of(item) + k;
            const double bias = rows.sigma[r] - after[r];
            if (item.kind == RowKind::equality) allowed += std::abs(rows.lam[r] * bias);
            if (item.kind != RowKind::equality && k == 0) allowed += rows.lam[r] * std::max(-bias, 0.0);
          }
        }
        ASSERT_LE(work, allowed + 1e-9 * (size + 1e-6)) << name << " " << to_string(law) << " step " << i;
      }
      EXPECT_GT(touching, 100) << name;
    }
  }
}

}  // namespace
}  // namespace articula::testing::scenes_test
