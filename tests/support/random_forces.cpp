#include "random_forces.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace articula::testing {
namespace {

bool chance(std::mt19937& random, double probability) { return uniform(random, 0, 1) < probability; }

template <class Elements>
const auto& any_of(std::mt19937& random, const Elements& elements) {
  return elements[std::uniform_int_distribution<size_t>(0, elements.size() - 1)(random)];
}

Vector2 random_range(std::mt19937& random, double bound) {
  return {uniform(random, -bound, 0.0), uniform(random, 0.0, bound)};
}

ActuatorDescription random_actuator(std::mt19937& random, const std::string& name, bool limits) {
  ActuatorDescription a;
  a.name = name;
  for (double& g : a.gear) g = uniform(random, -2, 2);
  for (double& g : a.gain) g = uniform(random, -2, 2);
  for (double& b : a.bias) b = uniform(random, -2, 2);
  a.bias[2] = uniform(random, -3, -2.5);  // the velocity gain stays on one side of zero
  a.gain[2] = uniform(random, -0.5, 0.5);
  a.activation = static_cast<ActivationType>(std::uniform_int_distribution(0, 3)(random));
  a.time_constant = uniform(random, 0.05, 0.5);
  a.activation_early = chance(random, 0.5);
  if (limits && chance(random, 0.4)) a.control_range = random_range(random, 1.0);
  if (limits && chance(random, 0.4)) a.force_range = random_range(random, 4.0);
  if (limits && a.activation != ActivationType::none) a.activation_range = random_range(random, 1.0);
  return a;
}

struct Joints {
  std::vector<std::string> all, scalar;
};

Joints name_joints(Description& d, std::mt19937& random, bool limits) {
  Joints joints;
  for (BodyDescription& body : d.bodies) {
    for (JointDescription& joint : body.joints) {
      joint.name = fmt::format("joint{}", joints.all.size());
      joints.all.push_back(joint.name);
      joint.actuator_carries_gravity = chance(random, 0.5);
      if (joint.type == JointType::free) {
        joint.stiffness = uniform(random, 0, 1);
        joint.damping = uniform(random, 0, 1);
      }
      if (joint.type != JointType::hinge && joint.type != JointType::slide) continue;
      joints.scalar.push_back(joint.name);
      if (limits && chance(random, 0.3)) joint.actuator_force_range = random_range(random, 6.0);
    }
    if (chance(random, 0.5)) body.gravity_compensation = uniform(random, 0, 1.5);
  }
  return joints;
}

void add_tendons(Description& d, std::mt19937& random, std::vector<std::string> joints, bool limits) {
  for (int i = 0; i < 3 && !joints.empty(); ++i) {
    TendonDescription tendon;
    tendon.name = fmt::format("tendon{}", i);
    std::shuffle(joints.begin(), joints.end(), random);
    const size_t count = std::uniform_int_distribution<size_t>(1, std::min<size_t>(3, joints.size()))(random);
    for (size_t k = 0; k < count; ++k) tendon.terms.push_back({joints[k], uniform(random, -2, 2)});
    tendon.stiffness = uniform(random, 0, 3);
    tendon.damping = uniform(random, 0, 1);
    if (count == 1) tendon.armature = uniform(random, 0, 0.3);
    if (i == 1) tendon.spring_length = Vector2(0.2, 0.5);
    if (i == 2) tendon.spring_length = Vector2(0.3, 0.3);
    if (limits && i == 0) tendon.actuator_force_range = random_range(random, 3.0);
    d.tendons.push_back(tendon);
  }
}

}  // namespace

void add_random_forces(Description& d, std::mt19937& random, bool limits) {
  const Joints joints = name_joints(d, random, limits);
  add_tendons(d, random, joints.scalar, limits);
  d.medium.density = chance(random, 0.8) ? uniform(random, 0, 20) : 0.0;
  d.medium.viscosity = chance(random, 0.8) ? uniform(random, 0, 1) : 0.0;
  d.medium.wind = uniform_vector(random, 3, 1.0);
  const auto add = [&](TransmissionType type, const std::string& target) {
    ActuatorDescription a = random_actuator(random, fmt::format("actuator{}", d.actuators.size()), limits);
    a.transmission = type;
    a.target = target;
    if (type == TransmissionType::joint && chance(random, 0.5)) a.armature = uniform(random, 0, 0.3);
    if (type == TransmissionType::joint || type == TransmissionType::tendon)
      a.damping = uniform(random, 0, 1);
    if (type == TransmissionType::frame && chance(random, 0.6))
      a.reference_frame = any_of(random, d.frames).name;
    d.actuators.push_back(a);
  };
  for (const std::string& joint : joints.all) {
    if (chance(random, 0.7)) add(TransmissionType::joint, joint);
    if (chance(random, 0.4)) add(TransmissionType::joint_in_parent, joint);
  }
  for (const TendonDescription& tendon : d.tendons) {
    add(TransmissionType::tendon, tendon.name);
    if (chance(random, 0.5)) add(TransmissionType::tendon, tendon.name);
  }
  for (int i = 0; i < 4; ++i) add(TransmissionType::frame, any_of(random, d.frames).name);
}

Model random_force_model(int seed, bool limits) {
  std::mt19937 random(static_cast<unsigned>(seed) + 5000);
  while (true) {
    Description d = random_description(
        random, {.bodies = 2 + seed % 8, .chain = seed % 10 == 9, .weld_probability = 0.2});
    add_random_forces(d, random, limits);
    Model model = build(d);
    if (model.nv() > 0) return model;
  }
}

RandomInputs random_inputs(const Model& model, std::mt19937& random) {
  return {uniform_vector(random, model.na(), 2.0), uniform_vector(random, model.nu(), 2.0)};
}

}  // namespace articula::testing
