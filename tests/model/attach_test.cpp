// Several robots in one model, with prefixes: each moves as it does alone.

#include <gtest/gtest.h>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/error.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::attach_test {
namespace {

Description random_part(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Description d = random_description(random, {.bodies = 8});
  d.gravity = {0.0, 0.0, -9.81};
  return d;
}

TEST(attach, two_robots_in_one_model_move_as_each_does_alone) {
  for (int seed = 0; seed < 20; ++seed) {
    const Description left = random_part(seed), right = random_part(seed + 100);
    Description both;
    attach(both, left, "left/");
    attach(both, right, "right/");
    const Model model = build(both), alone[2] = {build(left), build(right)};
    ASSERT_EQ(model.nv(), alone[0].nv() + alone[1].nv());

    std::mt19937 random(static_cast<unsigned>(seed));
    const RandomState state = random_state(model, random);
    const VectorX tau = uniform_vector(random, model.nv());
    Data data(model);
    VectorX a(model.nv());
    if (model.nv() == 0) continue;
    ASSERT_TRUE(aba(model, data, state.q, state.v, tau, a));
    int q = 0, v = 0;
    for (const Model& robot : alone) {
      const int nq = robot.nq(), nv = robot.nv();
      if (nv == 0) continue;
      Data own(robot);
      VectorX expected(nv);
      ASSERT_TRUE(
          aba(robot, own, state.q.segment(q, nq), state.v.segment(v, nv), tau.segment(v, nv), expected));
      EXPECT_EQ(a.segment(v, nv), expected) << "seed " << seed;
      q += nq, v += nv;
    }
  }
}

TEST(attach, every_name_gets_the_prefix_and_references_follow) {
  Description part = random_part(1);
  part.bodies[0].joints = {JointDescription{.name = "hip"}};
  part.tendons = {TendonDescription{.name = "cable", .terms = {{"hip", 2.0}}}};
  part.actuators = {
      ActuatorDescription{.name = "motor", .target = "hip"},
      ActuatorDescription{.name = "puller", .transmission = TransmissionType::tendon, .target = "cable"}};
  part.equalities = {EqualityDescription{.name = "hook", .first = "body0", .second = "world"}};
  part.sensors = {SensorDescription{.name = "encoder", .object_type = ObjectType::joint, .object = "hip"}};
  part.geometries = {GeometryDescription{.name = "ball", .body = "body0", .size = {0.1, 0, 0}}};
  Description whole;
  attach(whole, part, "a/");
  attach(whole, part, "b/");
  const Model model = build(whole);
  for (const std::string prefix : {"a/", "b/"}) {
    EXPECT_GT(model.body(prefix + "body0"), 0);
    EXPECT_GE(model.joint(prefix + "hip"), 0);
    EXPECT_GE(model.frame(prefix + "frame3"), 0);
    EXPECT_NO_THROW(model.parameters().find("geometry/" + prefix + "ball/size"));
    EXPECT_NO_THROW(model.parameters().find("tendon/" + prefix + "cable/coefficients"));
  }
  const Structure& s = model.structure();
  EXPECT_EQ(s.joints[s.actuators[2].target].name, "b/hip");
  EXPECT_EQ(s.tendons[s.actuators[3].target].name, "b/cable");
  EXPECT_EQ(model.description().equalities[1].first, "b/body0");
  EXPECT_EQ(model.description().equalities[1].second, "world");
}

// A gripper described on its own hangs on the hand at the pose given.
TEST(attach, a_part_hangs_on_a_body_at_a_pose) {
  Description whole = chain_description(2);
  const Pose mount{{0.1, -0.2, 0.3}, Quaternion(0.8, 0.0, 0.6, 0.0)};
  attach(whole, chain_description(1), "tool/", "link1", mount);
  const Model model = build(whole);
  Data data(model);
  std::mt19937 random(5);
  forward_kinematics(model, data, uniform_vector(random, 3));
  const Placement hand = body_placement(model, data, model.body("link1"));
  Data turned(model);
  const Vector3 expected = (hand.p + hand.R * Vec3(mount.position)).eigen();
  EXPECT_LT((body_placement(model, data, model.body("tool/link0")).p.eigen() - expected).norm(), 1e-15);
}

TEST(attach, a_free_body_hangs_on_the_world_only) {
  Description ball;
  ball.bodies.push_back(
      BodyDescription{.name = "ball", .joints = {JointDescription{.type = JointType::free}}});
  ball.bodies[0].inertia = {.mass = 1.0, .inertia = Matrix3::Identity()};
  Description whole = chain_description(1);
  EXPECT_THROW(attach(whole, ball, "", "link0"), Error);
  Description other = chain_description(1);
  attach(other, ball, "", "world", {{1, 2, 3}, Quaternion::Identity()});
  EXPECT_EQ(build(other).neutral_configuration().segment(1, 3), Vector3(1, 2, 3));
}

TEST(attach, the_same_prefix_twice_is_a_duplicate_name) {
  Description whole;
  attach(whole, chain_description(1), "a/");
  attach(whole, chain_description(1), "a/");
  EXPECT_THROW(build(whole), Error);
}

}  // namespace
}  // namespace articula::testing::attach_test
