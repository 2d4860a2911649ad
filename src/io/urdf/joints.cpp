#include <cmath>

#include "articula/model/names.hpp"
#include "io/mjcf/orientation.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

Motion read_motion(const Element& element) {
  Motion motion = Motion::fixed;
  if (element.attribute("type") == nullptr) {
    fail(element,
         "attribute type is missing; it is revolute, continuous, prismatic, fixed, floating or planar");
  }
  Attributes(element).read_keyword<Motion>("type",
                                           {{"revolute", Motion::revolute},
                                            {"continuous", Motion::continuous},
                                            {"prismatic", Motion::prismatic},
                                            {"fixed", Motion::fixed},
                                            {"floating", Motion::floating},
                                            {"planar", Motion::planar}},
                                           motion);
  return motion;
}

int read_end(const Reader& reader, const Element& joint, const char* end) {
  const Element element = child_of(joint, end);
  if (!element.node) fail(joint, "<{} link=\"...\"/> is missing; add it", end);
  const std::string name = element.text("link");
  const int link = find(reader.link_index, name);
  if (link < 0) fail(element, "there is no link '{}'{}", name, suggestion(name, names_of(reader.links)));
  return link;
}

// In the joint's frame, which is the child link's.
Vector3 read_axis(Reader& reader, const Joint& joint) {
  const bool planar = joint.motion == Motion::planar;
  Vector3 axis = planar ? Vector3::UnitZ() : Vector3::UnitX();
  const Element element = child_of(joint.element, "axis");
  if (!element.node) return axis;
  Attributes(element).read("xyz", axis);
  // Across z, whichever way that points: x, y and the angle about z, as Pinocchio counts them.
  if (planar && axis.head<2>().norm() <= 1e-10 * axis.norm()) return Vector3::UnitZ();
  if (planar) {
    reader.warn(
        element,
        "the joint moves across its axis, as URDF says; Pinocchio moves it in x and y whatever it is");
  }
  if (axis.norm() < 1e-10) fail(element, "attribute xyz has no length; the joint needs a direction");
  return axis.normalized();
}

void read_limits(Reader& reader, const Joint& joint, JointDescription& described) {
  const bool bounded = joint.motion == Motion::revolute || joint.motion == Motion::prismatic;
  const Element element = child_of(joint.element, "limit");
  if (!element.node) {
    if (bounded) reader.warn(joint.element, "<limit> is missing; the joint moves without limits");
    return;
  }
  const Attributes a(element);
  Vector2 range = Vector2::Zero();
  double effort = 0.0;
  a.read("lower", range[0]);
  a.read("upper", range[1]);
  a.read("effort", effort);
  if (element.attribute("velocity") != nullptr) {
    reader.warn_once(element, "velocity", "limits of velocity are not enforced");
  }
  if (bounded && range[0] > range[1]) {
    fail(element, "lower ({}) is above upper ({}); swap them", range[0], range[1]);
  }
  constexpr double out_of_reach = 1e10;  // an open end; some write 1e16
  range = range.cwiseMax(-out_of_reach).cwiseMin(out_of_reach);
  if (bounded && range[0] == range[1]) {
    reader.warn(element,
                fmt::format("lower and upper are both {}; the joint moves without limits", range[0]));
  } else if (bounded && (range[0] > -out_of_reach || range[1] < out_of_reach)) {
    described.range = range;
  }
  if (effort < 0.0) fail(element, "attribute effort is {}; it cannot be negative", effort);
  if (effort == 0.0 && element.attribute("effort") != nullptr) {
    reader.warn_once(element, "effort",
                     "an effort of 0 is taken for none given, not for a joint that can exert nothing");
  }
  if (effort > 0.0 && effort < out_of_reach) described.actuator_force_range = Vector2(-effort, effort);
}

void read_dynamics(const Joint& joint, JointDescription& described) {
  const Element element = child_of(joint.element, "dynamics");
  if (!element.node) return;
  const Attributes a(element);
  a.read("damping", described.damping);
  a.read("friction", described.dry_friction);
  if (described.damping < 0.0)
    fail(element, "attribute damping is {}; it cannot be negative", described.damping);
  if (described.dry_friction < 0.0) {
    fail(element, "attribute friction is {}; it cannot be negative", described.dry_friction);
  }
}

// Copies of `like`, sliding along the columns of `directions`: "NAME_x", "NAME_y", ...
void add_slides(const JointDescription& like, const Matrix3& directions, int count,
                std::vector<JointDescription>& joints) {
  for (int i = 0; i < count; ++i) {
    JointDescription slide = like;
    slide.type = JointType::slide;
    slide.name = fmt::format("{}_{}", like.name, "xyz"[i]);
    slide.axis = directions.col(i);
    joints.push_back(std::move(slide));
  }
}

}  // namespace

void read_joints(Reader& reader) {
  for (const Element& element : reader.tree.children(reader.tree.root(), "joint")) {
    const int index = static_cast<int>(reader.joints.size());
    Joint joint;
    joint.element = element;
    joint.name = element.text("name");
    if (joint.name.empty()) fail(element, "attribute name is missing; add it");
    if (!reader.joint_index.emplace(joint.name, index).second) {
      fail(element, "another joint has that name; give each its own");
    }
    joint.motion = read_motion(element);
    joint.parent = read_end(reader, element, "parent");
    joint.child = read_end(reader, element, "child");
    joint.origin = read_origin(element);
    Link& child = reader.links[joint.child];
    if (joint.parent == joint.child)
      fail(element, "link '{}' cannot be its own parent; name another link", child.name);
    if (child.parent_joint >= 0) {
      fail(element,
           "link '{}' is the child of joint '{}' already; a URDF is a tree, so loops must be cut open",
           child.name, reader.joints[child.parent_joint].name);
    }
    child.parent_joint = index;
    reader.links[joint.parent].child_joints.push_back(index);
    reader.joints.push_back(std::move(joint));
  }
}

std::vector<JointDescription> make_joints(Reader& reader, const Joint& joint, bool free) {
  JointDescription described;
  described.name = joint.name;
  described.where = joint.element.label();
  std::vector<JointDescription> result;
  if (joint.motion == Motion::fixed) return result;
  read_dynamics(joint, described);
  if (joint.motion == Motion::floating) {
    described.type = free ? JointType::free : JointType::ball;
    if (!free) add_slides(described, Matrix3::Identity(), 3, result);
    result.push_back(std::move(described));
    return result;
  }
  described.axis = read_axis(reader, joint);
  read_limits(reader, joint, described);
  described.type = joint.motion == Motion::prismatic ? JointType::slide : JointType::hinge;
  if (joint.motion == Motion::planar) {
    add_slides(described, mjcf::rotation_to(described.axis).toRotationMatrix(), 2, result);
  }
  result.push_back(std::move(described));
  return result;
}

void read_mimics(Reader& reader) {
  for (const Joint& joint : reader.joints) {
    const Element element = child_of(joint.element, "mimic");
    if (!element.node) continue;
    const std::string name = element.text("joint");
    const int other = find(reader.joint_index, name);
    if (other < 0) {
      reader.warn(element, [&] {
        std::vector<std::string> known;
        for (const Joint& j : reader.joints) known.push_back(j.name);
        return fmt::format("there is no joint '{:.100}' to mimic, so it moves on its own{}", name,
                           suggestion(name, known));
      });
      continue;
    }
    if (reader.joints[other].name == joint.name) fail(element, "a joint cannot mimic itself");
    const auto is_scalar = [](const Joint& j) {
      return j.motion == Motion::revolute || j.motion == Motion::continuous || j.motion == Motion::prismatic;
    };
    if (!is_scalar(joint) || !is_scalar(reader.joints[other])) {
      reader.warn(element,
                  "only revolute, continuous and prismatic joints can mimic each other; this is left out");
      continue;
    }
    EqualityDescription equality;
    equality.type = EqualityType::joint;
    equality.name = joint.name + "_mimic";
    equality.where = element.label();
    equality.first = joint.name;
    equality.second = name;
    const Attributes a(element);
    a.read("offset", equality.polynomial[0]);
    a.read("multiplier", equality.polynomial[1]);
    reader.description.equalities.push_back(std::move(equality));
  }
}

}  // namespace articula::urdf
