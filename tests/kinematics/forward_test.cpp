// Poses against a recursion written a second time, with Eigen's quaternions, from the description.

#include "articula/kinematics/forward.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/random_tree.hpp"

namespace articula::testing::forward_test {
namespace {

constexpr int trees = 60;

// MuJoCo's rule: joints act one after the other in the body's frame as the previous ones left it,
// each turning about its own anchor. A free joint's q is the pose in the world.
Pose move_by_joint(Pose at, const JointDescription& joint, const double* q) {
  const Vector3 anchor = at.position + at.rotation * joint.position;
  const Vector3 axis = joint.axis.normalized();
  switch (joint.type) {
    case JointType::fixed: break;
    case JointType::free:
      at.position = Vector3(q[0], q[1], q[2]);
      at.rotation = Quaternion(q[3], q[4], q[5], q[6]).normalized();
      break;
    case JointType::slide: at.position += at.rotation * axis * (q[0] - joint.reference); break;
    case JointType::hinge:
      at.rotation = at.rotation * Quaternion(Eigen::AngleAxisd(q[0] - joint.reference, axis));
      at.position = anchor - at.rotation * joint.position;
      break;
    case JointType::ball:
      at.rotation = at.rotation * Quaternion(q[0], q[1], q[2], q[3]).normalized();
      at.position = anchor - at.rotation * joint.position;
      break;
  }
  return at;
}

std::map<std::string, Pose> reference_poses(const Model& model, const VectorX& q,
                                            const std::map<std::string, Pose>& kinematic = {}) {
  std::map<std::string, Pose> poses{{"world", Pose{}}};
  for (const BodyDescription& body : model.description().bodies) {
    Pose at = poses.at(body.parent) * body.pose;
    if (body.kinematic && kinematic.contains(body.name)) at = kinematic.at(body.name);
    for (const JointDescription& joint : body.joints) {
      at = move_by_joint(at, joint, q.data() + model.structure().joints[model.joint(joint.name)].q);
    }
    poses[body.name] = at;
  }
  return poses;
}

void expect_pose(const Placement& got, const Pose& expected, const std::string& what) {
  EXPECT_LT((got.p.eigen() - expected.position).norm(), 1e-13 * (1.0 + expected.position.norm())) << what;
  EXPECT_LT((got.R.eigen() - expected.rotation.toRotationMatrix()).norm(), 1e-13) << what;
}

TEST(forward_kinematics, bodies_and_frames_are_where_a_second_recursion_puts_them) {
  for (int seed = 0; seed < trees; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = random_model(random, {.bodies = 1 + seed % 30});
    Data data(model);
    VectorX q = random_state(model, random).q;
    if (seed % 2 == 1) {
      for (const JointIndex& joint : model.structure().joints) {  // quaternions need not be units
        if (joint.type == JointType::ball) q.segment<4>(joint.q) *= 3.0;
        if (joint.type == JointType::free) q.segment<4>(joint.q + 3) *= 0.2;
      }
    }
    forward_kinematics(model, data, q);
    const auto expected = reference_poses(model, q);
    for (int b = 0; b < model.nbody(); ++b) {
      const std::string& name = model.structure().bodies[b].name;
      expect_pose(body_placement(model, data, b), expected.at(name), name);
    }
    for (const FrameDescription& frame : model.description().frames) {
      expect_pose(frame_placement(model, data, model.frame(frame.name)), expected.at(frame.body) * frame.pose,
                  frame.name);
    }
  }
}

TEST(forward_kinematics, the_neutral_configuration_is_the_pose_as_described) {
  std::mt19937 random(1);
  const Model model = random_model(random, {.bodies = 30});
  Data data(model);
  forward_kinematics(model, data, model.neutral_configuration());
  std::map<std::string, Pose> poses{{"world", Pose{}}};
  for (const BodyDescription& body : model.description().bodies) {
    poses[body.name] = poses.at(body.parent) * body.pose;
    expect_pose(body_placement(model, data, model.body(body.name)), poses[body.name], body.name);
  }
}

TEST(forward_kinematics, what_hangs_on_a_kinematic_body_goes_where_it_goes) {
  std::mt19937 random(2);
  Description d = random_description(random, {.bodies = 8, .chain = true});
  if (!d.bodies[0].joints.empty()) d.bodies[0].joints = {JointDescription{.axis = {1, 2, 3}}};
  BodyDescription carrier;
  carrier.name = "carrier";
  carrier.kinematic = true;
  carrier.pose = {{1, 2, 3}, random_rotation(random)};
  d.bodies[0].parent = "carrier";
  d.bodies.push_back(carrier);
  BodyDescription plate;  // welded to the carrier
  plate.name = "plate";
  plate.parent = "carrier";
  plate.pose = {{0.1, 0.2, 0.3}, random_rotation(random)};
  d.bodies.push_back(plate);
  const Model model = build(d);
  Data data(model);
  const VectorX q = random_state(model, random).q;
  const Pose moved{uniform_vector(random, 3, 10.0), random_rotation(random)};
  for (const bool at_start : {true, false}) {
    const Pose pose = at_start ? carrier.pose : moved;
    data.kinematic_pose[0] = {Mat3::from(pose.rotation.toRotationMatrix()), Vec3(pose.position)};
    forward_kinematics(model, data, q);
    for (const auto& [name, expected] : reference_poses(model, q, {{"carrier", pose}})) {
      expect_pose(body_placement(model, data, model.body(name)), expected, name);
    }
  }
}

TEST(forward_kinematics, data_starts_with_kinematic_bodies_as_described) {
  Description d;
  BodyDescription carrier;
  carrier.name = "carrier";
  carrier.kinematic = true;
  carrier.pose = {{1, 2, 3}, Quaternion(0.6, 0.8, 0, 0)};
  d.bodies = {carrier};
  const Model model = build(d);
  Data data(model);
  forward_kinematics(model, data, VectorX());
  expect_pose(body_placement(model, data, 1), carrier.pose, "carrier");
}

}  // namespace
}  // namespace articula::testing::forward_test
