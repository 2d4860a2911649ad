#include "io/mjcf/lookup.hpp"

namespace articula::mjcf {

namespace {

struct Row {
  std::string_view name;
  SensorType type;
  ObjectType object;      // none: given by objtype
  const char* attribute;  // that names the object
};

constexpr std::array rows{
    Row{"touch", SensorType::touch, ObjectType::frame, "site"},
    Row{"accelerometer", SensorType::accelerometer, ObjectType::frame, "site"},
    Row{"velocimeter", SensorType::velocimeter, ObjectType::frame, "site"},
    Row{"gyro", SensorType::gyro, ObjectType::frame, "site"},
    Row{"force", SensorType::force, ObjectType::frame, "site"},
    Row{"torque", SensorType::torque, ObjectType::frame, "site"},
    Row{"magnetometer", SensorType::magnetometer, ObjectType::frame, "site"},
    Row{"jointpos", SensorType::joint_position, ObjectType::joint, "joint"},
    Row{"jointvel", SensorType::joint_velocity, ObjectType::joint, "joint"},
    Row{"jointactuatorfrc", SensorType::joint_actuator_force, ObjectType::joint, "joint"},
    Row{"ballquat", SensorType::ball_quaternion, ObjectType::joint, "joint"},
    Row{"ballangvel", SensorType::ball_angular_velocity, ObjectType::joint, "joint"},
    Row{"jointlimitpos", SensorType::joint_limit_position, ObjectType::joint, "joint"},
    Row{"jointlimitvel", SensorType::joint_limit_velocity, ObjectType::joint, "joint"},
    Row{"tendonpos", SensorType::tendon_position, ObjectType::tendon, "tendon"},
    Row{"tendonvel", SensorType::tendon_velocity, ObjectType::tendon, "tendon"},
    Row{"actuatorpos", SensorType::actuator_position, ObjectType::actuator, "actuator"},
    Row{"actuatorvel", SensorType::actuator_velocity, ObjectType::actuator, "actuator"},
    Row{"actuatorfrc", SensorType::actuator_force, ObjectType::actuator, "actuator"},
    Row{"framepos", SensorType::frame_position, ObjectType::none, "objname"},
    Row{"framequat", SensorType::frame_quaternion, ObjectType::none, "objname"},
    Row{"framexaxis", SensorType::frame_x_axis, ObjectType::none, "objname"},
    Row{"frameyaxis", SensorType::frame_y_axis, ObjectType::none, "objname"},
    Row{"framezaxis", SensorType::frame_z_axis, ObjectType::none, "objname"},
    Row{"framelinvel", SensorType::frame_linear_velocity, ObjectType::none, "objname"},
    Row{"frameangvel", SensorType::frame_angular_velocity, ObjectType::none, "objname"},
    Row{"framelinacc", SensorType::frame_linear_acceleration, ObjectType::none, "objname"},
    Row{"frameangacc", SensorType::frame_angular_acceleration, ObjectType::none, "objname"},
    Row{"subtreecom", SensorType::subtree_com, ObjectType::body, "body"},
    Row{"subtreelinvel", SensorType::subtree_linear_velocity, ObjectType::body, "body"},
    Row{"subtreeangmom", SensorType::subtree_angular_momentum, ObjectType::body, "body"},
    Row{"tendonactuatorfrc", SensorType::tendon_actuator_force, ObjectType::tendon, "tendon"},
    Row{"jointlimitfrc", SensorType::joint_limit_force, ObjectType::joint, "joint"},
    Row{"tendonlimitpos", SensorType::tendon_limit_position, ObjectType::tendon, "tendon"},
    Row{"tendonlimitvel", SensorType::tendon_limit_velocity, ObjectType::tendon, "tendon"},
    Row{"tendonlimitfrc", SensorType::tendon_limit_force, ObjectType::tendon, "tendon"},
    Row{"rangefinder", SensorType::range_finder, ObjectType::frame, "site"},
    Row{"e_potential", SensorType::potential_energy, ObjectType::none, nullptr},
    Row{"e_kinetic", SensorType::kinetic_energy, ObjectType::none, nullptr},
    Row{"clock", SensorType::clock, ObjectType::none, nullptr},
    Row{"user", SensorType::user, ObjectType::none, nullptr}};

const Row* find_row(std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Kind kind_of(ObjectType type) {
  switch (type) {
    case ObjectType::frame: return Kind::site;
    case ObjectType::geometry: return Kind::geometry;
    case ObjectType::joint: return Kind::joint;
    case ObjectType::actuator: return Kind::actuator;
    case ObjectType::tendon: return Kind::tendon;
    case ObjectType::none:
    case ObjectType::body:
    case ObjectType::body_inertial: break;
  }
  return Kind::body;
}

// MuJoCo's "body" is the body's inertial frame, "xbody" its own.
ObjectType object_type(const Attributes& a, const char* attribute) {
  a.required(attribute);
  ObjectType type = ObjectType::body;
  a.read_keyword<ObjectType>(attribute,
                             {{"body", ObjectType::body_inertial},
                              {"xbody", ObjectType::body},
                              {"geom", ObjectType::geometry},
                              {"site", ObjectType::frame},
                              {"camera", ObjectType::frame}},
                             type);
  return type;
}

// Its name where it is an object of that type; cameras that follow something have no frame of their own.
std::optional<std::string> object_name(const Reader& reader, const Attributes& a, const char* type_attribute,
                                       ObjectType type, const char* attribute, const std::string& suffix) {
  const std::string name = a.required(attribute);
  const bool camera = type_attribute != nullptr && a.text(type_attribute) == "camera";
  const std::string found = resolve(reader, kind_of(type), camera ? camera_frame(name) : name, suffix);
  if (camera && reader.following_cameras.contains(name)) return std::nullopt;
  if (camera && !reader.site_index.contains(found))
    fail(a.element(), "attribute {}: there is no camera '{}'", attribute, name);
  return found;
}

// What the object must be for the sensor to mean something.
void require_fitting_object(const Reader& reader, const Element& element, const SensorDescription& sensor) {
  using enum SensorType;
  const JointDescription* joint =
      sensor.object_type == ObjectType::joint ? find_joint(reader, sensor.object) : nullptr;
  const TendonDescription* tendon =
      sensor.object_type == ObjectType::tendon ? find_tendon(reader, sensor.object) : nullptr;
  const SensorType type = sensor.type;
  const bool scalar = type == joint_position || type == joint_velocity || type == joint_actuator_force;
  const bool ball = type == ball_quaternion || type == ball_angular_velocity;
  const bool limit = type == joint_limit_position || type == joint_limit_velocity ||
                     type == joint_limit_force || type == tendon_limit_position ||
                     type == tendon_limit_velocity || type == tendon_limit_force;
  if (joint != nullptr && scalar && joint->type != JointType::hinge && joint->type != JointType::slide)
    fail(element, "joint '{}' is no hinge or slide; use a sensor of frames or of balls", sensor.object);
  if (joint != nullptr && ball && joint->type != JointType::ball)
    fail(element, "joint '{}' is no ball joint; use jointpos, jointvel or a sensor of frames", sensor.object);
  if (limit && ((joint != nullptr && !joint->range) || (tendon != nullptr && !tendon->range)))
    fail(element, "'{}' has no limit; give it a range, or leave the sensor out", sensor.object);
  const bool unit = type == ball_quaternion || type == frame_quaternion || type == frame_x_axis ||
                    type == frame_y_axis || type == frame_z_axis;
  if (unit && sensor.cutoff > 0.0)
    fail(element, "attribute cutoff cuts quaternions and axes, which must keep their length; leave it out");
}

// Returns why the sensor is left out, or nothing.
std::string read_objects(const Reader& reader, const Row& row, const Attributes& a, const std::string& suffix,
                         SensorDescription& sensor) {
  if (row.attribute == nullptr) return "";
  sensor.object_type = row.object;
  constexpr const char* no_frame = "only cameras that are fixed to a body have a frame";
  const char* chosen = row.object == ObjectType::none ? "objtype" : nullptr;
  if (chosen != nullptr) sensor.object_type = object_type(a, chosen);
  const auto object = object_name(reader, a, chosen, sensor.object_type, row.attribute, suffix);
  if (!object) return no_frame;
  sensor.object = *object;
  if (row.object == ObjectType::tendon && reader.drawn_tendons.contains(sensor.object)) {
    return "spatial tendons are not modelled";
  }
  if (row.object == ObjectType::actuator && reader.lost_actuators.contains(a.required(row.attribute))) {
    return "its actuator is left out";
  }
  require_fitting_object(reader, a.element(), sensor);
  if (!a.has("refname") && !a.has("reftype")) return "";
  if (row.type == SensorType::frame_linear_acceleration || row.type == SensorType::frame_angular_acceleration)
    fail(a.element(), "accelerations are measured in the world; leave reftype and refname out");
  sensor.reference_type = object_type(a, "reftype");
  const auto reference = object_name(reader, a, "reftype", sensor.reference_type, "refname", suffix);
  if (!reference) return no_frame;
  sensor.reference = *reference;
  return "";
}

// The same for those with attributes of their own.
std::string read_special(Reader& reader, const Row& row, const Attributes& a, const std::string& suffix,
                         SensorDescription& sensor) {
  constexpr int most_numbers = 10'000;
  if (row.type == SensorType::user) {
    a.read("dim", sensor.dimension);
    if (sensor.dimension < 1 || sensor.dimension > most_numbers)
      fail(a.element(), "attribute dim is {}; it must be 1 to {}", sensor.dimension, most_numbers);
    reader.warn(a.element(), "only you know what a user sensor reads; its numbers stay zero");
  }
  if (row.type == SensorType::range_finder) {
    if (a.has("camera")) return "images of cameras are not modelled";
    if (a.has("data") && a.text("data") != "dist") return "range finders read the distance only";
    reader.warn(a.element(), "range finders see what collides, meshes by their hulls, and nothing else");
  }
  return read_objects(reader, row, a, suffix, sensor);
}

void read_sensor(Reader& reader, const Element& element, const std::string& suffix) {
  const Row* row = find_row(element.name());
  if (row == nullptr) {
    reader.warn(element, "this sensor is not evaluated and is left out");
    return;
  }
  const Attributes a(element);
  SensorDescription sensor;
  sensor.type = row->type;
  sensor.name = instance_name(element, suffix);
  sensor.where = element.label();
  a.read("cutoff", sensor.cutoff);
  if (sensor.cutoff < 0.0) fail(element, "attribute cutoff is {}; it cannot be negative", sensor.cutoff);
  double noise = 0.0;
  a.read("noise", noise);
  if (noise < 0.0) fail(element, "attribute noise is {}; it cannot be negative", noise);
  const std::string reason = read_special(reader, *row, a, suffix, sensor);
  if (!reason.empty()) {
    reader.warn(element, reason + "; this sensor is left out");
    return;
  }
  for (const char* name : {"delay", "interval", "nsample"}) {
    if (a.has(name))
      reader.warn(element, fmt::format("attribute {} has no effect: sensors read the present", name));
  }
  reader.description.sensors.push_back(std::move(sensor));
}

}  // namespace

void read_sensors(Reader& reader) {
  for_each_instance(reader, reader.section("sensor"), [&](const Element& element, const std::string& suffix) {
    read_sensor(reader, element, suffix);
  });
}

}  // namespace articula::mjcf
