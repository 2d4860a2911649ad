#include <algorithm>

#include "articula/error.hpp"
#include "io/mjcf_writer/writer.hpp"

namespace articula::mjcf_writer {

namespace {

void write_pair(const ContactPairDescription& pair, pugi::xml_node node) {
  set_name(node, pair.name);
  set(node, "geom1", pair.geometry1);
  set(node, "geom2", pair.geometry2);
  set(node, "condim", pair.condim);
  set(node, "friction", pair.friction);
  set_unless(node, "margin", pair.margin, 0.0);
  set_unless(node, "gap", pair.gap, 0.0);
}

const FrameDescription* find_frame(const Description& d, const std::string& body, const Vector3& position) {
  for (const FrameDescription& frame : d.frames) {
    if (frame.body == body && frame.pose.position == position && !frame.name.empty()) return &frame;
  }
  return nullptr;
}

// Two given points can only be written as sites.
void write_connect(const Writer& writer, const EqualityDescription& e, pugi::xml_node node) {
  if (!e.anchor2) {
    set(node, "body1", e.first);
    set(node, "body2", e.second);
    set(node, "anchor", e.anchor);
    return;
  }
  const FrameDescription* first = find_frame(writer.description, e.first, e.anchor);
  const FrameDescription* second = find_frame(writer.description, e.second, *e.anchor2);
  if (first == nullptr || second == nullptr) {
    throw Error(
        "{}{}equality '{}' connects two points; MJCF needs a named frame at each: add one to body '{}' and "
        "one "
        "to body '{}'",
        e.where, e.where.empty() ? "" : ": ", e.name, e.first, e.second);
  }
  set(node, "site1", first->name);
  set(node, "site2", second->name);
}

// relpose places the anchor, which is given in the second body's frame, in the first body's.
void write_weld(const EqualityDescription& e, pugi::xml_node node) {
  set(node, "body1", e.first);
  set(node, "body2", e.second);
  if (!e.anchor.isZero(0.0)) set(node, "anchor", e.anchor);
  if (e.relative_pose) {
    const Quaternion& q = e.relative_pose->rotation;
    const Vector3 p = e.relative_pose->position + q * e.anchor;
    const double numbers[] = {p[0], p[1], p[2], q.w(), q.x(), q.y(), q.z()};
    set(node, "relpose", numbers);
  }
  set_unless(node, "torquescale", e.torque_scale, 1.0);
}

void write_coupling(const EqualityDescription& e, const char* first, const char* second,
                    pugi::xml_node node) {
  set(node, first, e.first);
  if (!e.second.empty()) set(node, second, e.second);
  set(node, "polycoef", e.polynomial);
}

void write_equality(const Writer& writer, const EqualityDescription& e, pugi::xml_node section) {
  static constexpr std::array names{"connect", "weld", "joint", "tendon"};
  pugi::xml_node node = section.append_child(names[static_cast<std::size_t>(e.type)]);
  set_name(node, e.name);
  if (!e.active) set(node, "active", "false");
  switch (e.type) {
    case EqualityType::connect: write_connect(writer, e, node); break;
    case EqualityType::weld: write_weld(e, node); break;
    case EqualityType::joint: write_coupling(e, "joint1", "joint2", node); break;
    case EqualityType::tendon: write_coupling(e, "tendon1", "tendon2", node); break;
  }
}

const char* transmission_name(TransmissionType type) {
  switch (type) {
    case TransmissionType::joint: return "joint";
    case TransmissionType::joint_in_parent: return "jointinparent";
    case TransmissionType::frame: return "site";
    case TransmissionType::tendon: return "tendon";
  }
  return "";
}

const char* activation_name(ActivationType type) {
  switch (type) {
    case ActivationType::none: return "none";
    case ActivationType::integrator: return "integrator";
    case ActivationType::filter: return "filter";
    case ActivationType::filter_exact: return "filterexact";
  }
  return "";
}

// A gain that depends on nothing is a fixed one: of ball joints a servo then goes the short way round. Beside
// a positive third bias number, which would be taken for a damping ratio, it is written as an affine one.
void write_actuator(const ActuatorDescription& a, pugi::xml_node node) {
  set_name(node, a.name);
  set(node, transmission_name(a.transmission), a.target);
  if (!a.reference_frame.empty()) set(node, "refsite", a.reference_frame);
  set(node, "gear", a.gear);
  const bool fixed = a.gain[1] == 0.0 && a.gain[2] == 0.0 && !(a.bias[2] > 0.0);
  set(node, "gaintype", fixed ? "fixed" : "affine");
  if (fixed)
    set(node, "gainprm", a.gain[0]);
  else
    set(node, "gainprm", a.gain);
  set(node, "biastype", "affine");
  set(node, "biasprm", a.bias);
  set(node, "dyntype", activation_name(a.activation));
  set(node, "dynprm", a.time_constant);
  if (a.activation_early) set(node, "actearly", "true");
  set_range(node, "ctrllimited", "ctrlrange", a.control_range);
  set_range(node, "forcelimited", "forcerange", a.force_range);
  set_range(node, "actlimited", "actrange", a.activation_range);
  set_unless(node, "armature", a.armature, 0.0);
  set_unless(node, "damping", a.damping, 0.0);
}

void write_tendon(const TendonDescription& tendon, pugi::xml_node node) {
  set_name(node, tendon.name);
  set_unless(node, "stiffness", tendon.stiffness, 0.0);
  set_unless(node, "damping", tendon.damping, 0.0);
  set_unless(node, "armature", tendon.armature, 0.0);
  set_unless(node, "frictionloss", tendon.dry_friction, 0.0);
  if (tendon.spring_length) set(node, "springlength", std::span(tendon.spring_length->data(), 2));
  set_range(node, "limited", "range", tendon.range);
  set_unless(node, "margin", tendon.limit_margin, 0.0);
  set_range(node, "actuatorfrclimited", "actuatorfrcrange", tendon.actuator_force_range);
  for (const TendonDescription::Term& term : tendon.terms) {
    pugi::xml_node joint = node.append_child("joint");
    set(joint, "joint", term.joint);
    set(joint, "coef", term.coefficient);
  }
}

struct SensorName {
  const char* element;
  const char* attribute;  // that names the object; null: objtype and objname, or nothing
};

SensorName sensor_name(SensorType type) {
  switch (type) {
    case SensorType::joint_position: return {"jointpos", "joint"};
    case SensorType::joint_velocity: return {"jointvel", "joint"};
    case SensorType::actuator_position: return {"actuatorpos", "actuator"};
    case SensorType::actuator_velocity: return {"actuatorvel", "actuator"};
    case SensorType::actuator_force: return {"actuatorfrc", "actuator"};
    case SensorType::joint_actuator_force: return {"jointactuatorfrc", "joint"};
    case SensorType::tendon_position: return {"tendonpos", "tendon"};
    case SensorType::tendon_velocity: return {"tendonvel", "tendon"};
    case SensorType::ball_quaternion: return {"ballquat", "joint"};
    case SensorType::ball_angular_velocity: return {"ballangvel", "joint"};
    case SensorType::joint_limit_position: return {"jointlimitpos", "joint"};
    case SensorType::joint_limit_velocity: return {"jointlimitvel", "joint"};
    case SensorType::frame_position: return {"framepos", nullptr};
    case SensorType::frame_quaternion: return {"framequat", nullptr};
    case SensorType::frame_x_axis: return {"framexaxis", nullptr};
    case SensorType::frame_y_axis: return {"frameyaxis", nullptr};
    case SensorType::frame_z_axis: return {"framezaxis", nullptr};
    case SensorType::frame_linear_velocity: return {"framelinvel", nullptr};
    case SensorType::frame_angular_velocity: return {"frameangvel", nullptr};
    case SensorType::frame_linear_acceleration: return {"framelinacc", nullptr};
    case SensorType::frame_angular_acceleration: return {"frameangacc", nullptr};
    case SensorType::gyro: return {"gyro", "site"};
    case SensorType::velocimeter: return {"velocimeter", "site"};
    case SensorType::accelerometer: return {"accelerometer", "site"};
    case SensorType::magnetometer: return {"magnetometer", "site"};
    case SensorType::force: return {"force", "site"};
    case SensorType::torque: return {"torque", "site"};
    case SensorType::touch: return {"touch", "site"};
    case SensorType::subtree_com: return {"subtreecom", "body"};
    case SensorType::subtree_linear_velocity: return {"subtreelinvel", "body"};
    case SensorType::subtree_angular_momentum: return {"subtreeangmom", "body"};
    case SensorType::clock: return {"clock", nullptr};
    case SensorType::tendon_actuator_force: return {"tendonactuatorfrc", "tendon"};
    case SensorType::joint_limit_force: return {"jointlimitfrc", "joint"};
    case SensorType::tendon_limit_position: return {"tendonlimitpos", "tendon"};
    case SensorType::tendon_limit_velocity: return {"tendonlimitvel", "tendon"};
    case SensorType::tendon_limit_force: return {"tendonlimitfrc", "tendon"};
    case SensorType::range_finder: return {"rangefinder", "site"};
    case SensorType::potential_energy: return {"e_potential", nullptr};
    case SensorType::kinetic_energy: return {"e_kinetic", nullptr};
    case SensorType::user: return {"user", nullptr};
  }
  return {"", nullptr};
}

const char* object_name(ObjectType type) {
  switch (type) {
    case ObjectType::body: return "xbody";
    case ObjectType::body_inertial: return "body";
    case ObjectType::frame: return "site";
    case ObjectType::geometry: return "geom";
    case ObjectType::none:
    case ObjectType::joint:
    case ObjectType::actuator:
    case ObjectType::tendon: break;
  }
  return "";
}

void write_sensor(const SensorDescription& sensor, pugi::xml_node section) {
  const SensorName name = sensor_name(sensor.type);
  pugi::xml_node node = section.append_child(name.element);
  set_name(node, sensor.name);
  if (name.attribute != nullptr) {
    set(node, name.attribute, sensor.object);
  } else if (sensor.object_type != ObjectType::none) {
    set(node, "objtype", object_name(sensor.object_type));
    set(node, "objname", sensor.object);
  }
  if (sensor.reference_type != ObjectType::none) {
    set(node, "reftype", object_name(sensor.reference_type));
    set(node, "refname", sensor.reference);
  }
  set_unless(node, "cutoff", sensor.cutoff, 0.0);
  if (sensor.type == SensorType::user) set(node, "dim", sensor.dimension);
}

void write_keyframe(const KeyframeDescription& key, pugi::xml_node node) {
  set_name(node, key.name);
  set_unless(node, "time", key.time, 0.0);
  const auto set_list = [&](const char* name, const std::vector<double>& numbers) {
    if (!numbers.empty()) set(node, name, numbers);
  };
  set_list("qpos", key.q);
  set_list("qvel", key.v);
  set_list("act", key.activation);
  set_list("ctrl", key.control);
  set_list("mpos", key.kinematic_position);
  set_list("mquat", key.kinematic_rotation);
}

}  // namespace

void write_constraints(const Writer& writer, pugi::xml_node root) {
  const Description& d = writer.description;
  if (!d.contact_pairs.empty() || !d.contact_exclusions.empty()) {
    pugi::xml_node contact = root.append_child("contact");
    for (const auto& pair : d.contact_pairs) write_pair(pair, contact.append_child("pair"));
    for (const auto& exclusion : d.contact_exclusions) {
      pugi::xml_node node = contact.append_child("exclude");
      set(node, "body1", exclusion.body1);
      set(node, "body2", exclusion.body2);
    }
  }
  if (d.equalities.empty()) return;
  pugi::xml_node equality = root.append_child("equality");
  for (const auto& e : d.equalities) write_equality(writer, e, equality);
}

void write_tendons(const Writer& writer, pugi::xml_node root) {
  if (writer.description.tendons.empty()) return;
  pugi::xml_node section = root.append_child("tendon");
  for (const auto& tendon : writer.description.tendons) write_tendon(tendon, section.append_child("fixed"));
}

void write_actuators(const Writer& writer, pugi::xml_node root) {
  if (writer.description.actuators.empty()) return;
  pugi::xml_node section = root.append_child("actuator");
  for (const auto& a : writer.description.actuators) write_actuator(a, section.append_child("general"));
}

void write_sensors(const Writer& writer, pugi::xml_node root) {
  if (writer.description.sensors.empty()) return;
  pugi::xml_node section = root.append_child("sensor");
  for (const auto& sensor : writer.description.sensors) write_sensor(sensor, section);
}

void write_keyframes(const Writer& writer, pugi::xml_node root) {
  if (writer.description.keyframes.empty()) return;
  pugi::xml_node section = root.append_child("keyframe");
  for (const auto& key : writer.description.keyframes) write_keyframe(key, section.append_child("key"));
}

}  // namespace articula::mjcf_writer
