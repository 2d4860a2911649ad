#pragma once
// What a robot's sensors read, as MuJoCo defines it, from a state, an acceleration and the forces on it.
//
// Sensors are compiled once from the model's description; their numbers stand one after the other, in the
// order of the description. Places are bodies, frames (MuJoCo's sites) and geometries.
//
// A stage says what a sensor depends on, beside the configuration: nothing more, velocities, or accelerations
// and forces.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/collision/queries.hpp"
#include "articula/dynamics/forces.hpp"
#include "articula/dynamics/rnea.hpp"

namespace articula {

enum class SensorStage { position, velocity, acceleration };

struct SensorIndex {
  std::string name;
  SensorType type = SensorType::joint_position;
  SensorStage stage = SensorStage::position;
  int offset = 0, size = 0;  // of its numbers
  // joint, tendon, actuator, or for places the body, frame or geometry; -1: none
  ObjectType object_type = ObjectType::none, reference_type = ObjectType::none;
  int object = -1, reference = -1;
  double cutoff = 0.0;
  int zone = -1;  // touch: which of the zones
};

class Sensors {
 public:
  explicit Sensors(const Model& model);

  int size() const { return size_; }  // of all numbers
  const std::vector<SensorIndex>& list() const { return list_; }
  int find(std::string_view name) const;  // position in the list; throws Error with the nearest names
  bool empty() const { return list_.empty(); }
  // Whether some sensor needs accelerations: then propagate_motion must have been given them.
  bool need_acceleration() const { return need_acceleration_; }

  const std::vector<collision::Shape>& zones() const { return zones_; }
  const collision::Colliders* visible() const { return visible_.get(); }

 private:
  std::vector<SensorIndex> list_;
  std::vector<collision::Shape> zones_;                  // of touch sensors
  std::shared_ptr<const collision::Colliders> visible_;  // what range finders see: all that collides
  int size_ = 0;
  bool need_acceleration_ = false;
};

// One contact, as touch sensors feel it.
struct TouchContact {
  int body_a = 0, body_b = 0;
  Vec3 point;          // in the world
  Vec3 normal;         // unit, from a to b
  double force = 0.0;  // along the normal, pushing b; N
};

// Everything a reading depends on beside poses and motions of links, which are in Data.
struct SensorInputs {
  const double* q = nullptr;                   // nq
  const double* v = nullptr;                   // nv
  double time = 0.0;                           // s
  const ForceWork* forces = nullptr;           // of actuators and tendons; null where there are none
  const ExternalWrenches* wrenches = nullptr;  // of contacts, constraints and the user; null: none
  std::span<const TouchContact> contacts = {};
  const VectorX* joint_limit_force = nullptr;   // njoint; null: none holds
  const VectorX* tendon_limit_force = nullptr;  // ntendon
};

// Writes all readings (Sensors::size). After forward_kinematics and propagate_motion with v and, for sensors
// of the last stage, the acceleration; after applied_forces where `forces` is given.
void read_sensors(const Model& model, const Data& data, const Sensors& sensors, const SensorInputs& inputs,
                  VectorRef readings);

}  // namespace articula
