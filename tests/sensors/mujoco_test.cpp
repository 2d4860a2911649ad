// Readings of random sensors on random robots against MuJoCo's.

#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/sensors/sensors.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/mujoco_agreement.hpp"
#include "tests/support/random_forces.hpp"

namespace articula::testing::mujoco_test {
namespace {

constexpr double tolerance = 1e-8;

template <class Elements>
std::string any_name(std::mt19937& random, const Elements& elements) {
  return elements[std::uniform_int_distribution<std::size_t>(0, elements.size() - 1)(random)].name;
}

struct Object {
  ObjectType type;
  std::string name;
};

// Principal axes are the same only up to order and sign: of inertial frames only the origin is compared.
Object any_place(const Description& d, std::mt19937& random, SensorType type) {
  using enum SensorType;
  const bool of_origin =
      type == frame_position || type == frame_linear_velocity || type == frame_linear_acceleration;
  switch (std::uniform_int_distribution(0, of_origin ? 2 : 1)(random)) {
    case 0: return {ObjectType::body, any_name(random, d.bodies)};
    case 1: return {ObjectType::frame, any_name(random, d.frames)};
    default: return {ObjectType::body_inertial, any_name(random, d.bodies)};
  }
}

void add_sensor(Description& d, SensorType type, const Object& object, const Object& reference = {}) {
  SensorDescription sensor;
  sensor.type = type;
  sensor.object_type = object.type;
  sensor.object = object.name;
  sensor.reference_type = reference.type;
  sensor.reference = reference.name;
  d.sensors.push_back(sensor);
}

void add_place_sensors(Description& d, std::mt19937& random) {
  using enum SensorType;
  for (const SensorType type :
       {frame_position, frame_quaternion, frame_x_axis, frame_y_axis, frame_z_axis, frame_linear_velocity,
        frame_angular_velocity, frame_linear_acceleration, frame_angular_acceleration}) {
    add_sensor(d, type, any_place(d, random, type));
    if (type == frame_linear_acceleration || type == frame_angular_acceleration) continue;
    add_sensor(d, type, any_place(d, random, type), any_place(d, random, frame_quaternion));
  }
  for (const SensorType type : {gyro, velocimeter, accelerometer, magnetometer, force, torque})
    add_sensor(d, type, {ObjectType::frame, any_name(random, d.frames)});
  for (const SensorType type : {subtree_com, subtree_linear_velocity, subtree_angular_momentum})
    add_sensor(d, type, {ObjectType::body, any_name(random, d.bodies)});
}

void add_joint_sensors(Description& d) {
  using enum SensorType;
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) {
      const Object object{ObjectType::joint, joint.name};
      if (joint.type == JointType::ball) {
        add_sensor(d, ball_quaternion, object);
        add_sensor(d, ball_angular_velocity, object);
      } else if (joint.type != JointType::free) {
        add_sensor(d, joint_position, object);
        add_sensor(d, joint_velocity, object);
        add_sensor(d, joint_actuator_force, object);
      }
    }
  }
  for (const ActuatorDescription& a : d.actuators) {
    for (const SensorType type : {actuator_position, actuator_velocity, actuator_force})
      add_sensor(d, type, {ObjectType::actuator, a.name});
  }
  for (const TendonDescription& t : d.tendons) {
    for (const SensorType type : {tendon_position, tendon_velocity, tendon_actuator_force})
      add_sensor(d, type, {ObjectType::tendon, t.name});
  }
  add_sensor(d, clock, {});
  add_sensor(d, kinetic_energy, {});
}

TEST(SensorsInMujoco, of_random_robots_read_what_ours_read) {
  std::string reason;
  const PeerApi* mujoco = peers::load_peer("mujoco", reason);
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    Description d = random_force_model(seed).description();
    add_place_sensors(d, random);
    add_joint_sensors(d);
    int number = 0;
    for (SensorDescription& sensor : d.sensors)
      sensor.name = fmt::format("sensor{} of type {}", number++, static_cast<int>(sensor.type));
    const auto peer = peers::create_from_mjcf_text(*mujoco, mjcf_text(d));
    const Agreement agreement = compare_with_mujoco(*mujoco, peer, build(d), 5);
    EXPECT_EQ(agreement.sizes, "");
    EXPECT_LT(agreement.worst(), tolerance) << "seed " << seed << ": " << agreement.text();
  }
}

}  // namespace
}  // namespace articula::testing::mujoco_test
