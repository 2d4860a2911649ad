#include "bench/support/mjcf_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <vector>

namespace articula::bench {
namespace {

std::string numbers(std::initializer_list<double> values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.17g}", text.empty() ? "" : " ", value);
  return text;
}

std::string vector(const Vector3& v) { return numbers({v[0], v[1], v[2]}); }

const char* type_name(JointType type) {
  switch (type) {
    case JointType::hinge: return "hinge";
    case JointType::slide: return "slide";
    case JointType::ball: return "ball";
    case JointType::free: return "free";
    case JointType::fixed: break;
  }
  return "";
}

std::string joint_text(const JointDescription& joint) {
  std::string text =
      fmt::format("<joint type=\"{}\" armature=\"{:.17g}\" damping=\"{:.17g}\" stiffness=\"{:.17g}\"",
                  type_name(joint.type), joint.armature, joint.damping, joint.stiffness);
  if (joint.type != JointType::free) text += fmt::format(" pos=\"{}\"", vector(joint.position));
  if (joint.type == JointType::hinge || joint.type == JointType::slide) {
    text += fmt::format(" axis=\"{}\" ref=\"{:.17g}\" springref=\"{:.17g}\"", vector(joint.axis),
                        joint.reference, joint.spring_reference);
  }
  return text + "/>\n";
}

std::string inertial_text(const InertiaDescription& in) {
  if (in.mass == 0.0) return "";
  const Matrix3& I = in.inertia;
  return fmt::format("<inertial pos=\"{}\" mass=\"{:.17g}\" fullinertia=\"{}\"/>\n", vector(in.com), in.mass,
                     numbers({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)}));
}

using Children = std::map<std::string, std::vector<const BodyDescription*>>;

void write_children(const Children& children, const std::string& parent, std::string& text) {
  const auto found = children.find(parent);
  if (found == children.end()) return;
  for (const BodyDescription* body : found->second) {
    const Quaternion& q = body->pose.rotation;
    text += fmt::format("<body name=\"{}\" pos=\"{}\" quat=\"{}\">\n", body->name,
                        vector(body->pose.position), numbers({q.w(), q.x(), q.y(), q.z()}));
    for (const JointDescription& joint : body->joints) text += joint_text(joint);
    text += inertial_text(body->inertia);
    write_children(children, body->name, text);
    text += "</body>\n";
  }
}

}  // namespace

std::string mjcf_text(const Model& model) {
  const Description& d = model.description();
  Children children;
  for (const BodyDescription& body : d.bodies) children[body.parent].push_back(&body);
  std::string text = fmt::format(
      "<mujoco>\n<compiler angle=\"radian\"/>\n"
      "<option gravity=\"{}\" timestep=\"{:.17g}\"><flag constraint=\"disable\"/></option>\n<worldbody>\n",
      vector(d.gravity), d.timestep);
  write_children(children, "world", text);
  return text + "</worldbody>\n</mujoco>\n";
}

}  // namespace articula::bench
