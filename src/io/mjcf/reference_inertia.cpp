// Springs and dampers that are given by the motion they should make: what they are depends on the
// inertia that they act on in the reference pose.

#include <Eigen/Cholesky>

#include <cmath>

#include "articula/dynamics/crba.hpp"
#include "articula/model/builder.hpp"
#include "io/mjcf/lookup.hpp"

namespace articula::mjcf {

namespace {

// First velocity of every joint, and how many it has.
struct Dofs {
  int first = 0, count = 0;
};

class ReferenceInertia {
 public:
  explicit ReferenceInertia(const Reader& reader) : reader_(reader) {
    const Description& d = reader.description;
    for (const BodyDescription& body : d.bodies) {
      for (const JointDescription& joint : body.joints) {
        const int count = joint.type == JointType::free ? 6 : joint.type == JointType::ball ? 3 : 1;
        if (!joint.name.empty()) dofs_.emplace(joint.name, Dofs{size_, count});
        joints_.push_back({size_, count});
        size_ += count;
      }
    }
    invert();
  }

  // The mean inertia that a joint's velocities feel, 1 / (M^-1)_ii.
  double of_joint(std::size_t index) const {
    const Dofs dofs = joints_[index];
    return 1.0 / inverse_.diagonal().segment(dofs.first, dofs.count).mean();
  }

  // m = 1 / (J M^-1 J^T), zero where the actuator moves nothing.
  double of_actuator(const ActuatorDescription& actuator, const Element& element) const {
    const VectorX J = jacobian(actuator, element);
    const double mobility = J.dot(inverse_ * J);
    return mobility > 0.0 ? 1.0 / mobility : 0.0;
  }

 private:
  VectorX jacobian(const ActuatorDescription& actuator, const Element& element) const {
    VectorX J = VectorX::Zero(size_);
    if (actuator.transmission == TransmissionType::tendon) {
      if (const TendonDescription* tendon = find_tendon(reader_, actuator.target)) J = of_tendon(*tendon);
      return actuator.gear[0] * J;
    }
    if (actuator.transmission == TransmissionType::frame) {
      fail(element, "dampratio of an actuator at a site is not supported; give kv");
    }
    const auto found = dofs_.find(actuator.target);
    if (found == dofs_.end()) return J;
    for (int i = 0; i < found->second.count; ++i)
      J[found->second.first + i] = actuator.gear[static_cast<std::size_t>(i)];
    return J;
  }

  VectorX of_tendon(const TendonDescription& tendon) const {
    VectorX J = VectorX::Zero(size_);
    for (const auto& term : tendon.terms) {
      const auto found = dofs_.find(term.joint);
      if (found != dofs_.end()) J[found->second.first] += term.coefficient;
    }
    return J;
  }

  // M of the tree, and the rotors of tendons and actuators.
  void invert() {
    constexpr int most_dofs = 2000;
    if (size_ > most_dofs) {
      throw Error(
          "{}: dampratio and springdamper are worked out for at most {} dofs; give kv, or stiffness and "
          "damping",
          reader_.tree.root().label(), most_dofs);
    }
    Description tree;
    tree.bodies = reader_.description.bodies;
    const Model model = build(std::move(tree));
    Data data(model);
    crba(model, data, model.neutral_configuration());
    MatrixX M(size_, size_);
    dense_mass_matrix(model, data, M);
    for (const TendonDescription& tendon : reader_.description.tendons) {
      const VectorX J = of_tendon(tendon);
      if (tendon.armature > 0.0) M += tendon.armature * J * J.transpose();
    }
    for (const ActuatorDescription& actuator : reader_.description.actuators) {
      if (actuator.armature <= 0.0 || actuator.transmission == TransmissionType::frame) continue;
      const VectorX J = jacobian(actuator, reader_.tree.root());
      M += actuator.armature * J * J.transpose();
    }
    inverse_ = M.ldlt().solve(MatrixX::Identity(size_, size_));
  }

  const Reader& reader_;
  int size_ = 0;
  std::unordered_map<std::string, Dofs> dofs_;
  std::vector<Dofs> joints_;
  MatrixX inverse_;
};

}  // namespace

// With inertia I, time constant T and damping ratio z:  k = I / (T z)^2,  d = 2 I / T;
// with stiffness kp:  kv = 2 z sqrt(kp m).
void resolve_reference_inertia(Reader& reader) {
  if (reader.spring_dampers.empty() && reader.damping_ratios.empty()) return;
  const ReferenceInertia inertia(reader);
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
  for (const auto& [actuator_index, request] : reader.damping_ratios) {
    ActuatorDescription& actuator = reader.description.actuators[actuator_index];
    const double mass = inertia.of_actuator(actuator, request.element);
    actuator.bias[2] = -2.0 * request.ratio * std::sqrt(actuator.gain[0] * mass);
  }
}

}  // namespace articula::mjcf
