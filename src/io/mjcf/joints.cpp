#include "io/mjcf/joints.hpp"

#include <algorithm>

#include "io/mjcf/geometry.hpp"

namespace articula::mjcf {

namespace {

// Polynomial springs and dampers (a second and third coefficient) are new and rare.
double read_linear(const Attributes& a, const char* name) {
  std::array<double, 3> coefficients{};
  a.read(name, coefficients, 1);
  if (coefficients[1] != 0.0 || coefficients[2] != 0.0) {
    fail(a.element(), "attribute {} has a quadratic or cubic part, which is not supported; give one number",
         name);
  }
  if (coefficients[0] < 0.0)
    fail(a.element(), "attribute {} is {}; it cannot be negative", name, coefficients[0]);
  return coefficients[0];
}

Vector2 in_radians(const Reader& reader, const JointDescription& joint, const Vector2& range) {
  if (joint.type == JointType::slide) return range;
  return {reader.compiler.angle(range[0]), reader.compiler.angle(range[1])};
}

void read_ranges(Reader& reader, const Attributes& a, JointDescription& joint) {
  Vector2 range = Vector2::Zero(), forces = Vector2::Zero();
  Switch limited = Switch::automatic, force_limited = Switch::automatic;
  a.read_range("range", range);
  a.read_range("actuatorfrcrange", forces);
  read_switch(a, "limited", limited);
  read_switch(a, "actuatorfrclimited", force_limited);
  if (joint.type == JointType::free) return;
  if (joint.type == JointType::ball && limited == Switch::yes && range.isZero(0.0)) {
    reader.warn(a.element(), "the joint is limited, but range is 0: it cannot turn; give range=\"0 ANGLE\"");
    joint.range = range;
    return;
  }
  joint.range = range_in_force(reader, a, "range", range, "limited", limited);
  if (joint.range && joint.type == JointType::ball && (*joint.range)[0] != 0.0) {
    fail(a.element(), "attribute range is {} to {}; that of a ball joint begins at 0", range[0], range[1]);
  }
  if (joint.range) joint.range = in_radians(reader, joint, *joint.range);
  if (joint.type == JointType::ball) return;
  joint.actuator_force_range =
      range_in_force(reader, a, "actuatorfrcrange", forces, "actuatorfrclimited", force_limited);
}

}  // namespace

void note_idle_range(Reader& reader, const Attributes& a, const JointDescription& joint) {
  Vector2 range = Vector2::Zero();
  if (joint.range || joint.name.empty() || joint.type == JointType::free) return;
  if (a.read_range("range", range)) reader.idle_ranges[joint.name] = range;
}

void require_possible_joints(const Element& body, const std::vector<JointDescription>& joints) {
  constexpr int most = 6;
  int dofs = 0;
  bool after_ball = false;
  for (const JointDescription& joint : joints) {
    dofs += joint.type == JointType::free ? 6 : joint.type == JointType::ball ? 3 : 1;
    if (after_ball && (joint.type == JointType::hinge || joint.type == JointType::ball))
      fail(body, "a ball joint is followed by another rotation; put a body between them");
    after_ball |= joint.type == JointType::ball;
  }
  const bool free = std::any_of(joints.begin(), joints.end(),
                                [](const JointDescription& j) { return j.type == JointType::free; });
  if (dofs > most && !free) {  // a free joint beside others has a message of its own
    fail(body, "its joints have {} degrees of freedom; a body has at most {} (put bodies between them)", dofs,
         most);
  }
}

JointDescription read_joint(Reader& reader, const Attributes& a) {
  JointDescription joint;
  const std::size_t index = reader.joint_count++;
  joint.where = a.element().label();
  if (a.element().name() == "freejoint") {
    joint.type = JointType::free;
    return joint;
  }
  a.read_keyword<JointType>("type",
                            {{"free", JointType::free},
                             {"ball", JointType::ball},
                             {"slide", JointType::slide},
                             {"hinge", JointType::hinge}},
                            joint.type);
  a.read("axis", joint.axis);
  a.read("pos", joint.position);
  const bool has_axis = joint.type == JointType::hinge || joint.type == JointType::slide;
  if (has_axis && joint.axis.norm() < 1e-7) fail(a.element(), "attribute axis has no length");
  if (has_axis) {
    a.read("ref", joint.reference);
    a.read("springref", joint.spring_reference);
  }
  if (joint.type == JointType::hinge) {
    joint.reference = reader.compiler.angle(joint.reference);
    joint.spring_reference = reader.compiler.angle(joint.spring_reference);
  }
  joint.stiffness = read_linear(a, "stiffness");
  joint.damping = read_linear(a, "damping");
  a.read("armature", joint.armature);
  a.read("frictionloss", joint.dry_friction);
  a.read("margin", joint.limit_margin);
  a.read("actuatorgravcomp", joint.actuator_carries_gravity);
  if (joint.armature < 0.0)
    fail(a.element(), "attribute armature is {}; it cannot be negative", joint.armature);
  if (joint.dry_friction < 0.0) {
    fail(a.element(), "attribute frictionloss is {}; it cannot be negative", joint.dry_friction);
  }
  std::array<double, 2> spring_damper{};
  a.read("springdamper", spring_damper, 2);
  if (spring_damper[0] != 0.0 || spring_damper[1] != 0.0) {
    if (spring_damper[0] <= 0.0 || spring_damper[1] <= 0.0) {
      fail(a.element(), "attribute springdamper: both numbers must be positive");
    }
    reader.spring_dampers[index] = spring_damper;
  }
  double yield = 0.0;
  a.read("springyield", yield);
  if (yield != 0.0)
    fail(a.element(), "attribute springyield (plastic springs) is not supported; leave it out");
  read_ranges(reader, a, joint);
  return joint;
}

}  // namespace articula::mjcf
