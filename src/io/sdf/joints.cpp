#include <cmath>

#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace {

constexpr double out_of_reach = 1e10;  // an open end; SDF writes 1e16 or infinity

struct Axis {
  Vector3 direction = Vector3::UnitZ();  // in the world, in the pose as described
  std::optional<Vector2> range;
  std::optional<Vector2> effort;
  double damping = 0.0, friction = 0.0, stiffness = 0.0, spring_reference = 0.0;
};

void read_limits(Reader& reader, const Element& element, Axis& axis) {
  const Element limit = child_of(element, "limit");
  if (!limit.node) return;
  Vector2 range(-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
  double effort = -1.0, unused = 0.0;
  read(limit, "lower", range[0], true);
  read(limit, "upper", range[1], true);
  read(limit, "effort", effort, true);
  if (read(limit, "velocity", unused, true)) {
    reader.warn_once(limit, "velocity", "limits of velocity are not enforced");
  }
  if (range[0] > range[1]) fail(limit, "lower ({}) is above upper ({}); swap them", range[0], range[1]);
  range = range.cwiseMax(-out_of_reach).cwiseMin(out_of_reach);
  if (range[0] == range[1]) {
    reader.warn(limit, fmt::format("lower and upper are both {}; the joint moves without limits", range[0]));
  } else if (range[0] > -out_of_reach || range[1] < out_of_reach) {
    axis.range = range;
  }
  if (effort > 0.0 && effort < out_of_reach) axis.effort = Vector2(-effort, effort);
}

Axis read_axis(Reader& reader, const Joint& joint, const char* name) {
  Axis axis;
  const Element element = child_of(joint.element, name);
  if (!element.node) fail(joint.element, "<{}> is missing; add it", name);
  Vector3 xyz = Vector3::UnitZ();
  read(element, "xyz", xyz);
  if (xyz.norm() < 1e-10) fail(element, "<xyz> has no length; the joint needs a direction");
  const Scope& scope = reader.scopes[static_cast<std::size_t>(joint.scope)];
  std::string frame = joint.frame;
  bool in_model = false;  // how SDF 1.6 says it
  read(element, "use_parent_model_frame", in_model);
  if (in_model) frame = scope.frame;
  const std::string expressed_in =
      child_of(element, "xyz").node ? child_of(element, "xyz").text("expressed_in") : "";
  if (!expressed_in.empty()) frame = full_name(reader, element, scope, expressed_in);
  axis.direction = pose_of(reader, frame).rotation * xyz.normalized();
  read_limits(reader, element, axis);
  double initial = 0.0;
  if (read(element, "initial_position", initial) && initial != 0.0) {
    reader.warn(element,
                fmt::format("initial_position is {}, but joints begin at 0; set the state instead", initial));
  }
  const Element dynamics = child_of(element, "dynamics");
  if (!dynamics.node) return axis;
  read(dynamics, "damping", axis.damping);
  read(dynamics, "friction", axis.friction);
  read(dynamics, "spring_stiffness", axis.stiffness);
  read(dynamics, "spring_reference", axis.spring_reference);
  for (double value : {axis.damping, axis.friction, axis.stiffness}) {
    if (value < 0.0) fail(dynamics, "damping, friction and stiffness cannot be negative ({})", value);
  }
  return axis;
}

JointDescription make_axis(Reader& reader, const Joint& joint, const Pose& child, const char* name,
                           JointType type, bool bounded) {
  const Axis axis = read_axis(reader, joint, name);
  JointDescription described;
  described.name = joint.name;
  described.where = joint.element.label();
  described.type = type;
  described.axis = child.rotation.conjugate() * axis.direction;
  if (bounded) described.range = axis.range;
  described.actuator_force_range = axis.effort;
  described.damping = axis.damping;
  described.dry_friction = axis.friction;
  described.stiffness = axis.stiffness;
  described.spring_reference = axis.spring_reference;
  return described;
}

Pose link_pose(Reader& reader, int link) {
  return link < 0 ? Pose{} : pose_of(reader, reader.links[static_cast<std::size_t>(link)].frame);
}

const std::string& body_of(const Reader& reader, int link) {
  static const std::string world = "world";
  return link < 0 ? world : reader.links[static_cast<std::size_t>(link)].name;
}

}  // namespace

void connect_joints(Reader& reader) {
  for (std::size_t j = 0; j < reader.joints.size(); ++j) {
    Joint& joint = reader.joints[j];
    const Scope scope = reader.scopes[static_cast<std::size_t>(joint.scope)];
    const Element parent = child_of(joint.element, "parent"), child = child_of(joint.element, "child");
    joint.parent = link_of(reader, parent, full_name(reader, parent, scope, text_of(parent)));
    joint.child = link_of(reader, child, full_name(reader, child, scope, text_of(child)));
    if (joint.child < 0) fail(child, "the world cannot be moved by a joint; make it the parent");
    if (joint.parent == joint.child)
      fail(joint.element, "its parent and its child are the same link; name two");
    if (joint.type == "screw" || joint.type == "gearbox") {
      fail(joint.element,
           "joints of type {} are not supported, and leaving it out would change the motion; use revolute or "
           "prismatic joints, and <mimic> to couple them",
           joint.type);
    }
    Link& link = reader.links[static_cast<std::size_t>(joint.child)];
    if (link.tree_joint < 0) link.tree_joint = static_cast<int>(j);
  }
}

std::vector<JointDescription> make_joints(Reader& reader, const Joint& joint) {
  const Pose child = link_pose(reader, joint.child);
  const Pose frame = inverse(child) * pose_of(reader, joint.frame);
  std::vector<JointDescription> result;
  if (joint.type == "revolute" || joint.type == "continuous") {
    result.push_back(make_axis(reader, joint, child, "axis", JointType::hinge, joint.type == "revolute"));
  } else if (joint.type == "prismatic") {
    result.push_back(make_axis(reader, joint, child, "axis", JointType::slide, true));
  } else if (joint.type == "universal" || joint.type == "revolute2") {
    result.push_back(make_axis(reader, joint, child, "axis", JointType::hinge, true));
    result.push_back(make_axis(reader, joint, child, "axis2", JointType::hinge, true));
    result.back().name += "_2";
  } else if (joint.type == "ball") {
    JointDescription ball;
    ball.name = joint.name;
    ball.where = joint.element.label();
    ball.type = JointType::ball;
    if (const Element axis = child_of(joint.element, "axis"); axis.node)
      reader.warn(axis, "a ball joint has no axis; what it says of limits and dynamics has no effect");
    result.push_back(std::move(ball));
  } else if (joint.type != "fixed") {
    fail(joint.element,
         "attribute type is '{:.40}'; it must be revolute, continuous, prismatic, ball, universal, revolute2 "
         "or fixed",
         joint.type);
  }
  for (JointDescription& described : result) described.position = frame.position;
  return result;
}

// q = multiplier (q_other - reference) + offset
void add_mimics(Reader& reader, const Joint& joint) {
  const Element axis = child_of(joint.element, "axis");
  const Element mimic = axis.node ? child_of(axis, "mimic") : Element{};
  if (!mimic.node) return;
  const Scope& scope = reader.scopes[static_cast<std::size_t>(joint.scope)];
  const std::string leader = full_name(reader, mimic, scope, mimic.text("joint"));
  const auto found = reader.joint_index.find(leader);
  if (found == reader.joint_index.end()) fail(mimic, "'{}' is no joint", mimic.text("joint"));
  double multiplier = 1.0, offset = 0.0, reference = 0.0;
  read(mimic, "multiplier", multiplier);
  read(mimic, "offset", offset);
  read(mimic, "reference", reference);
  EqualityDescription equality;
  equality.type = EqualityType::joint;
  equality.name = joint.name + "_mimic";
  equality.where = mimic.label();
  equality.first = joint.name;
  equality.second = reader.joints[static_cast<std::size_t>(found->second)].name;
  if (equality.first == equality.second) fail(mimic, "a joint cannot mimic itself");
  equality.polynomial = {offset - multiplier * reference, multiplier, 0.0, 0.0, 0.0};
  reader.description.equalities.push_back(std::move(equality));
}

// The child has its place in the tree by another joint: this one only holds the two together.
void close_loop(Reader& reader, const Joint& joint) {
  const Pose first = link_pose(reader, joint.parent);
  const Vector3 point = pose_of(reader, joint.frame).position;
  EqualityDescription equality;
  equality.name = joint.name;
  equality.where = joint.element.label();
  equality.first = body_of(reader, joint.parent);
  equality.second = body_of(reader, joint.child);
  equality.type = joint.type == "fixed" ? EqualityType::weld : EqualityType::connect;
  const auto anchored = [&](const Vector3& at) {
    return Vector3(first.rotation.conjugate() * (at - first.position));
  };
  if (joint.type == "ball") {
    equality.anchor = anchored(point);
  } else if (joint.type == "revolute" || joint.type == "continuous") {
    // Two points on the axis, ten centimetres apart, leave only the turn about it.
    constexpr double distance = 0.1;
    const Axis axis = read_axis(reader, joint, "axis");
    equality.anchor = anchored(point + distance * axis.direction);
    EqualityDescription second = equality;
    second.name += "_2";
    second.anchor = anchored(point);
    reader.description.equalities.push_back(std::move(second));
    if (axis.range || axis.damping != 0.0 || axis.friction != 0.0 || axis.stiffness != 0.0) {
      reader.warn(joint.element,
                  "the joint closes a loop; its limits, damping, friction and spring have no effect");
    }
  } else if (joint.type != "fixed") {
    fail(
        joint.element,
        "it closes a loop, which only ball, fixed, revolute and continuous joints can; '{}' is not supported",
        joint.type);
  }
  reader.description.equalities.push_back(std::move(equality));
}

}  // namespace articula::sdf
