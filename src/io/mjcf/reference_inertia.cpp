// Springs and dampers that are given by the motion they should make: what they are depends on the
// inertia that they act on in the reference pose.

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/forces.hpp"
#include "articula/dynamics/rnea.hpp"
#include "articula/model/builder.hpp"
#include "io/mjcf/reader.hpp"
#include "model/validation.hpp"

namespace articula::mjcf {

namespace {

// What moves and what moves it: every actuator as a motor of one newton (metre) at full control.
Description with_unit_motors(const Description& whole) {
  Description d;
  d.bodies = whole.bodies;
  d.frames = whole.frames;
  d.tendons = whole.tendons;
  for (BodyDescription& body : d.bodies) {
    body.gravity_compensation = 0.0;
    for (JointDescription& joint : body.joints) joint.actuator_force_range.reset();
  }
  for (TendonDescription& tendon : d.tendons) tendon.actuator_force_range.reset();
  for (const ActuatorDescription& actuator : whole.actuators) {
    ActuatorDescription motor;
    motor.name = actuator.name;
    motor.where = actuator.where;
    motor.transmission = actuator.transmission;
    motor.target = actuator.target;
    motor.reference_frame = actuator.reference_frame;
    motor.gear = actuator.gear;
    motor.armature = actuator.armature;
    d.actuators.push_back(std::move(motor));
  }
  return d;
}

// What M^-1 in the reference pose, rotors included, gives to joints and actuators.
class ReferenceInertia {
 public:
  explicit ReferenceInertia(const Reader& reader)
      : model_(build(with_unit_motors(reader.description))),
        data_(model_),
        work_(model_),
        through_(static_cast<std::size_t>(model_.nlink())) {
    const VectorX q = model_.neutral_configuration(), rest = VectorX::Zero(model_.nv());
    VectorX unused(model_.nv());
    bias_forces(model_, data_, q, rest, unused);  // leaves poses and velocities for the forces
    if (!aba(model_, data_, q, rest, rest, unused)) {
      throw Error(
          "{}: the mass matrix is singular, so that dampratio and springdamper cannot be worked out; give "
          "kv, or stiffness and damping",
          reader.tree.root().label());
    }
  }

  // The mean inertia that a joint's velocities feel, 1 / (M^-1)_ii.
  double of_joint(std::size_t index) {
    const std::vector<JointIndex>& joints = model_.structure().joints;
    const int first = joints[index].dof,
              end = index + 1 < joints.size() ? joints[index + 1].dof : model_.nv();
    double mobilities = 0.0;
    for (int d = first; d < end; ++d) mobilities += mobility(VectorX::Unit(model_.nv(), d));
    return (end - first) / mobilities;
  }

  // m = 1 / (J M^-1 J^T), zero where the actuator moves nothing.
  double of_actuator(std::size_t index) {
    const double mobile = mobility(jacobian(static_cast<int>(index)));
    return mobile > 0.0 ? 1.0 / mobile : 0.0;
  }

 private:
  // J^T is the joint forces under a force of one.
  VectorX jacobian(int i) {
    const ActuatorIndex& actuator = model_.structure().actuators[i];
    const TransmissionType type = model_.description().actuators[i].transmission;
    if (type == TransmissionType::joint) {
      const JointIndex& joint = model_.structure().joints[actuator.target];
      if (joint.type == JointType::hinge || joint.type == JointType::slide) {
        return model_.theta()[actuator.gear] * VectorX::Unit(model_.nv(), joint.dof);
      }
    }
    const VectorX none(0);
    applied_forces(model_, data_, work_, model_.neutral_configuration(), VectorX::Zero(model_.nv()), none,
                   VectorX::Unit(model_.nu(), i), model_.description().timestep);
    return work_.actuator;
  }

  // x^T M^-1 x = sum u_d^2 / D_d, where u and D are those of the articulated-body algorithm: the forces x
  // travel inwards as in aba_solve, O(depth) for what one joint feels.
  double mobility(const VectorX& x) {
    const Structure& s = model_.structure();
    double sum = 0.0;
    for (int k = model_.nlink() - 1; k > 0; --k) {
      const LinkIndex& link = s.links[k];
      std::optional<Force> force = std::exchange(through_[k], std::nullopt);
      for (int d = link.dof_end - 1; d >= link.dof_begin; --d) {
        if (!force && x[d] == 0.0) continue;
        if (!force) force.emplace();
        const double u = x[d] - dot(data_.S_local[d], *force);
        sum += u * u * data_.dof_inverse_D[d];
        *force += data_.dof_U[d] * (u * data_.dof_inverse_D[d]);
      }
      if (!force || link.root) continue;
      if (!through_[link.parent]) through_[link.parent].emplace();
      *through_[link.parent] += shifted(*force, data_.link_r[k] - data_.link_r[link.parent]);
    }
    return sum;
  }

  Model model_;
  Data data_;
  ForceWork work_;
  std::vector<std::optional<Force>> through_;  // nlink: force on the link from what lies behind it
};

}  // namespace

// With inertia I, time constant T and damping ratio z:  k = I / (T z)^2,  d = 2 I / T;
// with stiffness kp:  kv = 2 z sqrt(kp m).
void resolve_reference_inertia(Reader& reader) {
  if (reader.spring_dampers.empty() && reader.damping_ratios.empty()) return;
  validate(reader.description);  // before the work is done for nothing
  ReferenceInertia inertia(reader);
  std::size_t index = 0;
  for (BodyDescription& body : reader.description.bodies) {
    for (JointDescription& joint : body.joints) {
      const auto found = reader.spring_dampers.find(index);
      if (found != reader.spring_dampers.end()) {
        const auto [time, ratio] = found->second;
        const double I = inertia.of_joint(index);
        joint.stiffness = I / (time * time * ratio * ratio);
        joint.damping = 2.0 * I / time;
      }
      ++index;
    }
  }
  for (const auto& [actuator_index, ratio] : reader.damping_ratios) {
    ActuatorDescription& actuator = reader.description.actuators[actuator_index];
    const double mass = inertia.of_actuator(actuator_index);
    actuator.bias[2] = -2.0 * ratio * std::sqrt(actuator.gain[0] * mass);
  }
}

}  // namespace articula::mjcf
