#pragma once
// What a simulation's step returns.

#include "articula/steppers/contact_free.hpp"
#include "articula/steppers/impulse.hpp"

namespace articula {

enum class ContactMode : std::uint8_t { separating, sticking, sliding };
std::string_view to_string(ContactMode mode);

// A pair of points that touches, or may touch, within the step. World axes; impulses act on B, their
// opposites on A.
struct StepContact {
  int geometry_a = 0, geometry_b = 0;  // in Structure::geometries, a < b
  int body_a = 0, body_b = 0;
  ContactMode mode = ContactMode::separating;
  double distance = 0.0;                     // m, at the start of the step; negative: overlap
  Vector3 position;                          // m, as collision::ContactPoint
  Matrix3 frame;                             // columns: normal (from A to B) and two tangents
  Vector3 impulse = Vector3::Zero();         // N s
  Vector3 force = Vector3::Zero();           // N: impulse / dt
  Vector3 torque_impulse = Vector3::Zero();  // N m s: spinning and rolling friction

  Vector3 normal() const { return frame.col(0); }
};

// "floor, left_foot"; geometries without a name by number and body.
std::string contact_name(const Model& model, const StepContact& contact);

// A loop (connect, weld) and what holds it closed: impulses on its second body, their opposites on the first,
// halfway between the two points.
struct StepLoop {
  int equality = 0;  // in Description::equalities
  int link_a = 0, link_b = 0;
  Vector3 position_a, position_b;            // m, the points of the two bodies
  Vector3 impulse = Vector3::Zero();         // N s, world axes
  Vector3 torque_impulse = Vector3::Zero();  // N m s
};

struct Step {
  State next;
  std::vector<StepContact> contacts;  // in the order of their geometries
  std::vector<StepLoop> loops;
  StepReport report;
  WarmStart warm;  // for the next step

  // what the step was taken from
  State start;
  Input input;
  WarmStart guess;           // the warm start it was given
  std::uint64_t serial = 0;  // which workspace's how manieth step it was; derivatives look for its factors

  StepStatus status() const { return report.status; }
  bool ok() const { return report.status == StepStatus::ok; }
};

}  // namespace articula
