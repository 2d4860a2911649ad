#include "mjcf_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <span>

#include "articula/error.hpp"

namespace articula::testing {
namespace {

std::string numbers(std::span<const double> values) { return fmt::format("{:.17g}", fmt::join(values, " ")); }
template <class Derived>
std::string numbers(const Eigen::PlainObjectBase<Derived>& values) {
  return numbers(std::span(values.data(), static_cast<size_t>(values.size())));
}
std::string pose_text(const Pose& pose) {
  const Quaternion& r = pose.rotation;
  return fmt::format("pos=\"{}\" quat=\"{:.17g} {:.17g} {:.17g} {:.17g}\"", numbers(pose.position), r.w(),
                     r.x(), r.y(), r.z());
}
std::string range_text(const char* name, const std::optional<Vector2>& range, const char* limited) {
  if (!range) return "";
  return fmt::format(" {}=\"{}\" {}=\"true\"", name, numbers(*range), limited);
}

const char* type_name(JointType type) {
  switch (type) {
    case JointType::hinge: return "hinge";
    case JointType::slide: return "slide";
    case JointType::ball: return "ball";
    case JointType::free: return "free";
    case JointType::fixed: break;
  }
  throw Error("a fixed joint has no MJCF");
}

std::string joint_text(const JointDescription& joint) {
  const bool scalar = joint.type == JointType::hinge || joint.type == JointType::slide;
  std::string text = fmt::format(
      "<joint name=\"{}\" type=\"{}\" damping=\"{:.17g}\" armature=\"{:.17g}\" stiffness=\"{:.17g}\" "
      "actuatorgravcomp=\"{}\"{}{}",
      joint.name, type_name(joint.type), joint.damping, joint.armature, joint.stiffness,
      joint.actuator_carries_gravity,
      range_text("actuatorfrcrange", joint.actuator_force_range, "actuatorfrclimited"),
      range_text("range", joint.range, "limited"));
  if (joint.type != JointType::free) text += fmt::format(" pos=\"{}\"", numbers(joint.position));
  if (scalar) {
    text += fmt::format(" axis=\"{}\" ref=\"{:.17g}\" springref=\"{:.17g}\"", numbers(joint.axis),
                        joint.reference, joint.spring_reference);
  }
  return text + fmt::format(" margin=\"{:.17g}\"/>", joint.limit_margin);
}

std::string inertial_text(const InertiaDescription& i) {
  if (i.mass == 0.0) return "";
  const Matrix3& I = i.inertia;
  const std::array<double, 6> full{I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)};
  return fmt::format("<inertial mass=\"{:.17g}\" pos=\"{}\" fullinertia=\"{}\"/>", i.mass, numbers(i.com),
                     numbers(std::span<const double>(full)));
}

std::string sites_of(const Description& d, const std::string& body) {
  std::string text;
  for (const FrameDescription& frame : d.frames) {
    if (frame.body == body)
      text += fmt::format("<site name=\"{}\" {}/>\n", frame.name, pose_text(frame.pose));
  }
  return text;
}

std::string bodies_of(const Description& d, const std::string& parent) {
  std::string text;
  for (const BodyDescription& body : d.bodies) {
    if (body.parent != parent) continue;
    text += fmt::format("<body name=\"{}\" {} gravcomp=\"{:.17g}\"{}>\n", body.name, pose_text(body.pose),
                        body.gravity_compensation, body.kinematic ? " mocap=\"true\"" : "");
    text += inertial_text(body.inertia);
    for (const JointDescription& joint : body.joints) text += joint_text(joint) + "\n";
    text += sites_of(d, body.name) + bodies_of(d, body.name) + "</body>\n";
  }
  return text;
}

std::string tendon_text(const TendonDescription& tendon) {
  std::string text =
      fmt::format("<fixed name=\"{}\" stiffness=\"{:.17g}\" damping=\"{:.17g}\" armature=\"{:.17g}\"{}",
                  tendon.name, tendon.stiffness, tendon.damping, tendon.armature,
                  range_text("actuatorfrcrange", tendon.actuator_force_range, "actuatorfrclimited"));
  if (tendon.spring_length) text += fmt::format(" springlength=\"{}\"", numbers(*tendon.spring_length));
  text += ">";
  for (const TendonDescription::Term& term : tendon.terms) {
    text += fmt::format("<joint joint=\"{}\" coef=\"{:.17g}\"/>", term.joint, term.coefficient);
  }
  return text + "</fixed>\n";
}

std::string actuator_text(const ActuatorDescription& a) {
  static constexpr std::array targets{"joint", "jointinparent", "site", "tendon"};
  static constexpr std::array dynamics{"none", "integrator", "filter", "filterexact"};
  std::string text = fmt::format(
      "<general name=\"{}\" {}=\"{}\" gear=\"{}\" gaintype=\"affine\" gainprm=\"{}\" biastype=\"affine\" "
      "biasprm=\"{}\" dyntype=\"{}\" dynprm=\"{:.17g}\" actearly=\"{}\" damping=\"{:.17g}\" "
      "armature=\"{:.17g}\"",
      a.name, targets[static_cast<size_t>(a.transmission)], a.target,
      numbers(std::span<const double>(a.gear)), numbers(std::span<const double>(a.gain)),
      numbers(std::span<const double>(a.bias)), dynamics[static_cast<size_t>(a.activation)], a.time_constant,
      a.activation_early, a.damping, a.armature);
  if (!a.reference_frame.empty()) text += fmt::format(" refsite=\"{}\"", a.reference_frame);
  text += range_text("ctrlrange", a.control_range, "ctrllimited");
  text += range_text("forcerange", a.force_range, "forcelimited");
  text += range_text("actrange", a.activation_range, "actlimited");
  return text + "/>\n";
}

const char* object_name(ObjectType type) {
  switch (type) {
    case ObjectType::body: return "xbody";
    case ObjectType::body_inertial: return "body";
    case ObjectType::frame: return "site";
    case ObjectType::geometry: return "geom";
    default: return "";
  }
}

std::string sensor_text(const SensorDescription& sensor) {
  static constexpr std::array names{"jointpos",
                                    "jointvel",
                                    "actuatorpos",
                                    "actuatorvel",
                                    "actuatorfrc",
                                    "jointactuatorfrc",
                                    "tendonpos",
                                    "tendonvel",
                                    "ballquat",
                                    "ballangvel",
                                    "jointlimitpos",
                                    "jointlimitvel",
                                    "framepos",
                                    "framequat",
                                    "framexaxis",
                                    "frameyaxis",
                                    "framezaxis",
                                    "framelinvel",
                                    "frameangvel",
                                    "framelinacc",
                                    "frameangacc",
                                    "gyro",
                                    "velocimeter",
                                    "accelerometer",
                                    "magnetometer",
                                    "force",
                                    "torque",
                                    "touch",
                                    "subtreecom",
                                    "subtreelinvel",
                                    "subtreeangmom",
                                    "clock",
                                    "tendonactuatorfrc",
                                    "jointlimitfrc",
                                    "tendonlimitpos",
                                    "tendonlimitvel",
                                    "tendonlimitfrc",
                                    "rangefinder",
                                    "e_potential",
                                    "e_kinetic",
                                    "user"};
  const char* name = names[static_cast<size_t>(sensor.type)];
  std::string text = fmt::format("<{} cutoff=\"{:.17g}\"", name, sensor.cutoff);
  const bool of_frame = std::string_view(name).starts_with("frame");
  if (of_frame) {
    text += fmt::format(" objtype=\"{}\" objname=\"{}\"", object_name(sensor.object_type), sensor.object);
    if (sensor.reference_type != ObjectType::none) {
      text +=
          fmt::format(" reftype=\"{}\" refname=\"{}\"", object_name(sensor.reference_type), sensor.reference);
    }
    return text + "/>\n";
  }
  switch (sensor.object_type) {
    case ObjectType::joint: text += fmt::format(" joint=\"{}\"", sensor.object); break;
    case ObjectType::actuator: text += fmt::format(" actuator=\"{}\"", sensor.object); break;
    case ObjectType::tendon: text += fmt::format(" tendon=\"{}\"", sensor.object); break;
    case ObjectType::frame: text += fmt::format(" site=\"{}\"", sensor.object); break;
    case ObjectType::body: text += fmt::format(" body=\"{}\"", sensor.object); break;
    default: break;
  }
  return text + "/>\n";
}

}  // namespace

std::string mjcf_text(const Description& d) {
  std::string text = fmt::format(
      "<mujoco>\n<compiler angle=\"radian\" autolimits=\"false\" boundmass=\"0\" balanceinertia=\"false\"/>\n"
      "<option timestep=\"{:.17g}\" gravity=\"{}\" density=\"{:.17g}\" viscosity=\"{:.17g}\" wind=\"{}\" "
      "magnetic=\"{}\"/>\n",
      d.timestep, numbers(d.gravity), d.medium.density, d.medium.viscosity, numbers(d.medium.wind),
      numbers(d.magnetic_flux));
  text += "<worldbody>\n" + sites_of(d, "world") + bodies_of(d, "world") + "</worldbody>\n";
  const auto section = [&](const char* name, const auto& elements, auto write) {
    if (elements.empty()) return;
    text += fmt::format("<{}>\n", name);
    for (const auto& element : elements) text += write(element);
    text += fmt::format("</{}>\n", name);
  };
  section("tendon", d.tendons, tendon_text);
  section("actuator", d.actuators, actuator_text);
  section("sensor", d.sensors, sensor_text);
  return text + "</mujoco>\n";
}

}  // namespace articula::testing
