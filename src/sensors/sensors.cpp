#include "articula/sensors/sensors.hpp"

#include <algorithm>
#include <unordered_map>

#include "articula/error.hpp"
#include "articula/model/names.hpp"

namespace articula {

namespace {

struct Kind {
  SensorStage stage;
  int size;
};

Kind kind_of(const SensorDescription& sensor) {
  using enum SensorType;
  using enum SensorStage;
  switch (sensor.type) {
    case joint_position:
    case actuator_position:
    case tendon_position:
    case joint_limit_position:
    case tendon_limit_position:
    case range_finder:
    case potential_energy:
    case clock: return {position, 1};
    case ball_quaternion:
    case frame_quaternion: return {position, 4};
    case frame_position:
    case frame_x_axis:
    case frame_y_axis:
    case frame_z_axis:
    case magnetometer:
    case subtree_com: return {position, 3};
    case joint_velocity:
    case actuator_velocity:
    case tendon_velocity:
    case joint_limit_velocity:
    case tendon_limit_velocity:
    case kinetic_energy: return {velocity, 1};
    case ball_angular_velocity:
    case frame_linear_velocity:
    case frame_angular_velocity:
    case gyro:
    case velocimeter:
    case subtree_linear_velocity:
    case subtree_angular_momentum: return {velocity, 3};
    case actuator_force:
    case joint_actuator_force:
    case tendon_actuator_force:
    case joint_limit_force:
    case tendon_limit_force:
    case touch: return {acceleration, 1};
    case frame_linear_acceleration:
    case frame_angular_acceleration:
    case accelerometer:
    case force:
    case torque: return {acceleration, 3};
    case user: return {position, sensor.dimension};
  }
  return {position, 0};
}

// Positions of named things, built once: models may have thousands of sensors.
class Index {
 public:
  explicit Index(const Structure& s) {
    fill(bodies_, s.bodies);
    fill(joints_, s.joints);
    fill(frames_, s.frames);
    fill(geometries_, s.geometries);
    fill(actuators_, s.actuators);
    fill(tendons_, s.tendons);
  }

  int find(ObjectType type, const std::string& name) const {
    switch (type) {
      case ObjectType::none: return -1;
      case ObjectType::body:
      case ObjectType::body_inertial: return bodies_.at(name);
      case ObjectType::frame: return frames_.at(name);
      case ObjectType::geometry: return geometries_.at(name);
      case ObjectType::joint: return joints_.at(name);
      case ObjectType::actuator: return actuators_.at(name);
      case ObjectType::tendon: return tendons_.at(name);
    }
    return -1;
  }

 private:
  using Names = std::unordered_map<std::string, int>;
  template <class List>
  static void fill(Names& names, const List& list) {
    for (std::size_t i = 0; i < list.size(); ++i) names.emplace(list[i].name, static_cast<int>(i));
  }
  Names bodies_, joints_, frames_, geometries_, actuators_, tendons_;
};

void require_joint(const Model& model, const SensorIndex& sensor, const SensorDescription& described) {
  if (sensor.object_type != ObjectType::joint) return;
  using enum SensorType;
  const JointType type = model.structure().joints[static_cast<std::size_t>(sensor.object)].type;
  const bool of_ball = sensor.type == ball_quaternion || sensor.type == ball_angular_velocity;
  const bool of_limit = sensor.type == joint_limit_position || sensor.type == joint_limit_velocity ||
                        sensor.type == joint_limit_force;
  const bool scalar = type == JointType::hinge || type == JointType::slide;
  if (of_ball && type != JointType::ball) {
    throw Error("{}: sensor '{}' needs a ball joint, which '{}' is not; read joint_position instead",
                described.where, sensor.name, described.object);
  }
  if (!of_ball && !scalar && !(of_limit && type == JointType::ball)) {
    throw Error(
        "{}: sensor '{}' reads one number, but joint '{}' is no hinge or slide; read the ball's "
        "quaternion, or the frame of its body",
        described.where, sensor.name, described.object);
  }
}

}  // namespace

Sensors::Sensors(const Model& model) {
  const Structure& s = model.structure();
  const Index index(s);
  for (const SensorDescription& described : model.description().sensors) {
    SensorIndex sensor;
    const Kind kind = kind_of(described);
    sensor.name = described.name;
    sensor.type = described.type;
    sensor.stage = kind.stage;
    sensor.offset = size_;
    sensor.size = kind.size;
    sensor.object_type = described.object_type;
    sensor.object = index.find(described.object_type, described.object);
    sensor.reference_type = described.reference_type;
    sensor.reference = index.find(described.reference_type, described.reference);
    sensor.cutoff = described.cutoff;
    require_joint(model, sensor, described);
    if (sensor.type == SensorType::touch) {
      const FrameDescription& zone = model.description().frames[static_cast<std::size_t>(sensor.object)];
      sensor.zone = static_cast<int>(zones_.size());
      zones_.push_back({zone.type, Vec3(zone.size), nullptr, nullptr});
    }
    if (sensor.type == SensorType::range_finder && visible_ == nullptr)
      visible_ = std::make_shared<const collision::Colliders>(model);
    size_ += kind.size;
    need_acceleration_ |= kind.stage == SensorStage::acceleration;
    list_.push_back(std::move(sensor));
  }
}

int Sensors::find(std::string_view name) const {
  const auto found =
      std::find_if(list_.begin(), list_.end(), [&](const SensorIndex& s) { return s.name == name; });
  if (found != list_.end()) return static_cast<int>(found - list_.begin());
  std::vector<std::string> known;
  for (const SensorIndex& sensor : list_) known.push_back(sensor.name);
  throw Error("there is no sensor '{}'{}", name, suggestion(name, known));
}

}  // namespace articula
