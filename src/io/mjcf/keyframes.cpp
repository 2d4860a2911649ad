#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

namespace {

// What the state is in the pose as described.
KeyframeDescription reference_state(const Description& d) {
  KeyframeDescription key;
  const auto append = [](std::vector<double>& list, const Vector3& position) {
    list.insert(list.end(), position.begin(), position.end());
  };
  const auto append_rotation = [](std::vector<double>& list, const Quaternion& q) {
    list.insert(list.end(), {q.w(), q.x(), q.y(), q.z()});
  };
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) {
      switch (joint.type) {
        case JointType::free:
          append(key.q, body.pose.position);
          append_rotation(key.q, body.pose.rotation);
          key.v.resize(key.v.size() + 6);
          break;
        case JointType::ball:
          append_rotation(key.q, Quaternion::Identity());
          key.v.resize(key.v.size() + 3);
          break;
        case JointType::hinge:
        case JointType::slide:
          key.q.push_back(joint.reference);
          key.v.push_back(0.0);
          break;
        case JointType::fixed: break;
      }
    }
    if (!body.kinematic) continue;
    append(key.kinematic_position, body.pose.position);
    append_rotation(key.kinematic_rotation, body.pose.rotation);
  }
  for (const ActuatorDescription& actuator : d.actuators) {
    key.control.push_back(0.0);
    if (actuator.activation != ActivationType::none) key.activation.push_back(0.0);
  }
  return key;
}

// A list that is too short keeps the reference state for the rest.
void overwrite(const Attributes& a, const char* name, const char* what, std::vector<double>& values) {
  const std::vector<double> given = a.list(name);
  if (given.size() > values.size()) {
    fail(a.element(), "attribute {} has {} numbers, but the model has {} {}", name, given.size(),
         values.size(), what);
  }
  std::copy(given.begin(), given.end(), values.begin());
}

// Files do leave quaternions zero; MuJoCo takes that for no rotation.
void normalize(std::vector<double>& values, std::size_t at) {
  Eigen::Map<Eigen::Vector4d> q(values.data() + at);
  if (q.norm() < 1e-15) q = Eigen::Vector4d::UnitX();
  q.normalize();
}

void normalize_rotations(const Description& d, KeyframeDescription& key) {
  std::size_t at = 0;
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) {
      if (joint.type == JointType::free) normalize(key.q, at + 3);
      if (joint.type == JointType::ball) normalize(key.q, at);
      at += joint.type == JointType::free ? 7 : joint.type == JointType::ball ? 4 : 1;
    }
  }
  for (std::size_t i = 0; i < key.kinematic_rotation.size(); i += 4) normalize(key.kinematic_rotation, i);
}

// <size nkey="..."/>: at least as many, those that are not written at the reference state.
std::size_t least_keyframes(const Reader& reader) {
  int count = 0;
  for (const Element& element : reader.tree.children(reader.tree.root(), "size")) {
    Attributes(element).read("nkey", count);
    if (count < 0) fail(element, "attribute nkey is {}; it cannot be negative", count);
    if (static_cast<std::size_t>(count) > reader.options.most_elements) {
      fail(element, "attribute nkey is {}; at most {} are made", count, reader.options.most_elements);
    }
  }
  return static_cast<std::size_t>(count);
}

KeyframeDescription read_keyframe(const Description& d, const Element& element,
                                  const KeyframeDescription& reference) {
  const Attributes a(element);
  KeyframeDescription key = reference;
  key.name = element.text("name");
  key.where = element.label();
  a.read("time", key.time);
  overwrite(a, "qpos", "coordinates", key.q);
  overwrite(a, "qvel", "velocities", key.v);
  overwrite(a, "act", "activations", key.activation);
  overwrite(a, "ctrl", "controls", key.control);
  overwrite(a, "mpos", "coordinates of mocap bodies", key.kinematic_position);
  overwrite(a, "mquat", "quaternion entries of mocap bodies", key.kinematic_rotation);
  normalize_rotations(d, key);
  return key;
}

}  // namespace

void read_keyframes(Reader& reader) {
  std::vector<Element> elements = reader.section("keyframe");
  std::erase_if(elements, [](const Element& element) { return element.name() != "key"; });
  const std::size_t count = std::max(elements.size(), least_keyframes(reader));
  if (count == 0) return;
  Description& d = reader.description;
  const KeyframeDescription reference = reference_state(d);
  constexpr std::size_t most_numbers = 5'000'000;
  if (count * (1 + reference.q.size() + reference.v.size() + reference.control.size()) > most_numbers) {
    fail(elements.empty() ? reader.tree.root() : elements.front(),
         "{} keyframes hold more than {} numbers; split the file", count, most_numbers);
  }
  for (const Element& element : elements) d.keyframes.push_back(read_keyframe(d, element, reference));
  d.keyframes.resize(count, reference);
}

}  // namespace articula::mjcf
