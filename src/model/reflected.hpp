#pragma once
// A rotor behind a gear g adds g^2 of its inertia and damping to what it drives:
//   armature_d = joint + sum g^2 a + (c^2 A_t of tendons that hold only this joint),  A_t = tendon + sum g^2
//   a damping_d = joint + sum g^2 b,                                damping_t = tendon + sum g^2 b

#include "articula/model/model.hpp"

namespace articula {

// Adds to c.armature and c.damping, which hold the joints' own, and fills c.tendon_damping. Throws Error
// for an armature on a tendon of several joints.
void add_reflected(const Structure& structure, const VectorX& theta, Constants& c);

inline bool drives_joint(const ActuatorDescription& a) {
  return a.transmission == TransmissionType::joint || a.transmission == TransmissionType::joint_in_parent;
}

inline int dof_end(const Structure& s, int joint) {
  return joint + 1 < static_cast<int>(s.joints.size()) ? s.joints[joint + 1].dof : s.nv;
}

// Calls visit(d, k, partial) for every derivative of damping_d with respect to theta_k that is not zero.
template <class Visit>
void for_each_damping_partial(const Structure& s, const VectorX& theta, Visit visit) {
  const int njoint = static_cast<int>(s.joints.size());
  for (int j = 0; j < njoint; ++j) {
    for (int d = s.joints[j].dof; d < dof_end(s, j); ++d) visit(d, s.joints[j].damping, 1.0);
  }
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& described = s.description->actuators[i];
    const ActuatorIndex& actuator = s.actuators[i];
    if (described.damping == 0.0 || !drives_joint(described)) continue;
    const double partial = 2.0 * theta[actuator.gear] * described.damping;
    for (int d = s.joints[actuator.target].dof; d < dof_end(s, actuator.target); ++d) {
      visit(d, actuator.gear, partial);
    }
  }
}

// The same for the damping of tendons: visit(t, k, partial).
template <class Visit>
void for_each_tendon_damping_partial(const Structure& s, const VectorX& theta, Visit visit) {
  const int ntendon = static_cast<int>(s.tendons.size());
  for (int t = 0; t < ntendon; ++t) visit(t, s.tendons[t].damping, 1.0);
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& described = s.description->actuators[i];
    const ActuatorIndex& actuator = s.actuators[i];
    if (described.damping == 0.0 || described.transmission != TransmissionType::tendon) continue;
    visit(actuator.target, actuator.gear, 2.0 * theta[actuator.gear] * described.damping);
  }
}

double tendon_armature(const Structure& structure, const VectorX& theta, int tendon);

// And for the armature of dofs: visit(d, k, partial).
template <class Visit>
void for_each_armature_partial(const Structure& s, const VectorX& theta, Visit visit) {
  const int njoint = static_cast<int>(s.joints.size());
  for (int j = 0; j < njoint; ++j) {
    for (int d = s.joints[j].dof; d < dof_end(s, j); ++d) visit(d, s.joints[j].armature, 1.0);
  }
  for (const TendonIndex& tendon : s.tendons) {
    if (tendon.joints.size() != 1) continue;
    const int t = static_cast<int>(&tendon - s.tendons.data());
    const double c = theta[tendon.coefficients];
    visit(s.joints[tendon.joints[0]].dof, tendon.armature, c * c);
    visit(s.joints[tendon.joints[0]].dof, tendon.coefficients, 2.0 * c * tendon_armature(s, theta, t));
  }
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& described = s.description->actuators[i];
    const ActuatorIndex& actuator = s.actuators[i];
    if (described.armature == 0.0) continue;
    const double partial = 2.0 * theta[actuator.gear] * described.armature;
    if (drives_joint(described)) {
      for (int d = s.joints[actuator.target].dof; d < dof_end(s, actuator.target); ++d) {
        visit(d, actuator.gear, partial);
      }
    } else if (described.transmission == TransmissionType::tendon) {
      const TendonIndex& tendon = s.tendons[actuator.target];
      const double c = theta[tendon.coefficients];
      visit(s.joints[tendon.joints[0]].dof, actuator.gear, partial * c * c);
    }
  }
}

}  // namespace articula
