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

// MuJoCo's "body" is the body's inertial frame, "xbody" its own.
std::optional<ObjectType> object_type(const Attributes& a, const char* attribute) {
  const std::string given = a.required(attribute);
  if (given == "camera") return std::nullopt;
  ObjectType type = ObjectType::body;
  a.read_keyword<ObjectType>(attribute,
                             {{"body", ObjectType::body_inertial},
                              {"xbody", ObjectType::body},
                              {"geom", ObjectType::geometry},
                              {"site", ObjectType::frame}},
                             type);
  return type;
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

// Returns why the sensor is left out, or nothing.
std::string read_objects(const Reader& reader, const Row& row, const Attributes& a, const std::string& suffix,
                         SensorDescription& sensor) {
  if (row.attribute == nullptr) return "";
  sensor.object_type = row.object;
  if (row.object == ObjectType::none) {
    const std::optional<ObjectType> type = object_type(a, "objtype");
    if (!type) return "frames of cameras are not modelled";
    sensor.object_type = *type;
  }
  sensor.object = resolve(reader, kind_of(sensor.object_type), a.required(row.attribute), suffix);
  if (row.object == ObjectType::tendon && reader.drawn_tendons.contains(sensor.object)) {
    return "spatial tendons are not modelled";
  }
  if (row.object == ObjectType::actuator && reader.lost_actuators.contains(a.required(row.attribute))) {
    return "its actuator is left out";
  }
  if (!a.has("refname") && !a.has("reftype")) return "";
  const std::optional<ObjectType> type = object_type(a, "reftype");
  if (!type) return "frames of cameras are not modelled";
  sensor.reference_type = *type;
  sensor.reference = resolve(reader, kind_of(*type), a.required("refname"), suffix);
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
