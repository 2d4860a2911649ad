#include "random_tree.hpp"

#include <fmt/format.h>

namespace articula::testing {

double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

VectorX uniform_vector(std::mt19937& random, int size, double bound) {
  VectorX x(size);
  for (double& value : x) value = uniform(random, -bound, bound);
  return x;
}

Quaternion random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Quaternion(normal(random), normal(random), normal(random), normal(random)).normalized();
}

Vector3 random_direction(std::mt19937& random) { return random_rotation(random) * Vector3::UnitX(); }

namespace {

// A kinematic body, in place of the world for every joint but free ones.
void hang_on_kinematic_body(Description& d) {
  for (BodyDescription& body : d.bodies) {
    const bool free = !body.joints.empty() && body.joints[0].type == JointType::free;
    if (body.parent == "world" && !free) body.parent = "mocap";
  }
  BodyDescription mocap;
  mocap.name = "mocap";
  mocap.kinematic = true;
  mocap.inertia.mass = 1.0;
  mocap.inertia.inertia = Matrix3::Identity();
  d.bodies.push_back(std::move(mocap));
}

// A solid box of random size and density, somewhere near the body's origin.
InertiaDescription random_inertia(std::mt19937& random) {
  const Vector3 size(uniform(random, 0.1, 0.4), uniform(random, 0.1, 0.4), uniform(random, 0.1, 0.4));
  const double mass = uniform(random, 0.5, 3.0);
  const Vector3 squares = size.cwiseAbs2();
  const Matrix3 R = random_rotation(random).toRotationMatrix();
  const Vector3 moments = mass / 12.0 * (Vector3::Constant(squares.sum()) - squares);
  InertiaDescription inertia;
  inertia.mass = mass;
  inertia.com = uniform_vector(random, 3, 0.2);
  inertia.inertia = R * moments.asDiagonal() * R.transpose();
  return inertia;
}

JointDescription random_joint(std::mt19937& random, JointType type, const RandomTree& options) {
  JointDescription joint;
  joint.type = type;
  joint.axis = random_direction(random) * uniform(random, 0.5, 2.0);
  joint.position = uniform_vector(random, 3, 0.2);
  joint.reference = type == JointType::ball ? 0.0 : uniform(random, -0.5, 0.5);
  joint.spring_reference = uniform(random, -0.5, 0.5);
  joint.stiffness = uniform(random, 0.0, 2.0);
  joint.damping = uniform(random, 0.0, 0.5);
  joint.armature = uniform(random, 0.0, options.armature);
  return joint;
}

std::vector<JointDescription> random_joints(std::mt19937& random, const RandomTree& options, bool top) {
  if (uniform(random, 0, 1) < options.weld_probability) return {};
  const double kind = uniform(random, 0, 1);
  if (top && kind < 0.5) {
    JointDescription joint;
    joint.type = JointType::free;
    return {joint};
  }
  if (kind < 0.2) return {random_joint(random, JointType::ball, options)};
  const int count = options.several_joints && kind < 0.5 ? std::uniform_int_distribution(2, 3)(random) : 1;
  std::vector<JointDescription> joints;
  for (int i = 0; i < count; ++i) {
    const double which = uniform(random, 0, 1);
    const bool ball = options.several_joints && i + 1 == count && which > 0.9;
    joints.push_back(random_joint(random,
                                  ball          ? JointType::ball
                                  : which < 0.7 ? JointType::hinge
                                                : JointType::slide,
                                  options));
  }
  return joints;
}

}  // namespace

Description random_description(std::mt19937& random, const RandomTree& options) {
  Description d;
  d.gravity = {uniform(random, -3, 3), uniform(random, -3, 3), -9.81};
  for (int i = 0; i < options.bodies; ++i) {
    BodyDescription body;
    body.name = fmt::format("body{}", i);
    const int parent = options.chain ? i - 1 : std::uniform_int_distribution(-1, i - 1)(random);
    if (parent >= 0) body.parent = fmt::format("body{}", parent);
    body.pose = {uniform_vector(random, 3, 0.3), random_rotation(random)};
    body.joints = random_joints(random, options, parent < 0);
    body.inertia = random_inertia(random);
    FrameDescription frame;
    frame.name = fmt::format("frame{}", i);
    frame.body = body.name;
    frame.pose = {uniform_vector(random, 3, 0.3), random_rotation(random)};
    d.frames.push_back(std::move(frame));
    d.bodies.push_back(std::move(body));
  }
  if (options.kinematic) hang_on_kinematic_body(d);
  return d;
}

Model random_model(std::mt19937& random, const RandomTree& options) {
  while (true) {
    Model model = build(random_description(random, options));
    if (model.nv() > 0) return model;
  }
}

Description chain_description(int links) {
  Description d;
  for (int i = 0; i < links; ++i) {
    BodyDescription body;
    body.name = fmt::format("link{}", i);
    if (i > 0) {
      body.parent = fmt::format("link{}", i - 1);
      body.pose.position = {0, 0, -0.1};
    }
    JointDescription joint;
    joint.axis = i % 2 == 0 ? Vector3::UnitY() : Vector3::UnitX();
    body.joints = {joint};
    body.inertia.mass = 0.2;
    body.inertia.com = {0, 0, -0.05};
    body.inertia.inertia = Vector3(2e-4, 2e-4, 2e-5).asDiagonal();
    d.bodies.push_back(std::move(body));
  }
  return d;
}

void move_kinematic_bodies(Data& data, std::mt19937& random) {
  for (Placement& pose : data.kinematic_pose) {
    pose = {Mat3::from(random_rotation(random).toRotationMatrix()), Vec3(uniform_vector(random, 3))};
  }
  for (Motion& twist : data.kinematic_twist) {
    twist = {Vec3(uniform_vector(random, 3)), Vec3(uniform_vector(random, 3))};
  }
}

RandomState random_state(const Model& model, std::mt19937& random, double speed) {
  RandomState state{VectorX(model.nq()), uniform_vector(random, model.nv(), speed),
                    uniform_vector(random, model.nv(), speed)};
  for (const JointIndex& joint : model.structure().joints) {
    double* q = state.q.data() + joint.q;
    if (joint.type == JointType::free) {
      for (int i = 0; i < 3; ++i) *q++ = uniform(random, -1, 1);
    }
    if (joint.type == JointType::free || joint.type == JointType::ball) {
      const Quaternion rotation = random_rotation(random);
      q[0] = rotation.w(), q[1] = rotation.x(), q[2] = rotation.y(), q[3] = rotation.z();
    } else {
      *q = uniform(random, -1.5, 1.5);
    }
  }
  return state;
}

double relative_difference(const MatrixX& a, const MatrixX& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(b.cwiseAbs().maxCoeff(), 1e-300);
}

}  // namespace articula::testing
