#include "reflected.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"

namespace articula {

double tendon_armature(const Structure& s, const VectorX& theta, int tendon) {
  double sum = theta[s.tendons[tendon].armature];
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& described = s.description->actuators[i];
    const ActuatorIndex& actuator = s.actuators[i];
    if (described.transmission != TransmissionType::tendon || actuator.target != tendon) continue;
    sum += theta[actuator.gear] * theta[actuator.gear] * described.armature;
  }
  return sum;
}

void add_reflected(const Structure& s, const VectorX& theta, Constants& c) {
  const int ntendon = static_cast<int>(s.tendons.size());
  c.tendon_damping.resize(s.tendons.size());
  for (int t = 0; t < ntendon; ++t) {
    const TendonIndex& tendon = s.tendons[t];
    c.tendon_damping[t] = theta[tendon.damping];
    const double armature = tendon_armature(s, theta, t);
    if (armature == 0.0) continue;
    if (tendon.joints.size() > 1) {
      const std::string& where = s.description->tendons[t].where;
      throw Error(
          fmt::format("{}{}tendon '{}': its armature (with that of its actuators) couples the inertia of {} "
                      "joints, which "
                      "is not supported; give the joints armature instead, or keep one joint in the tendon",
                      where, where.empty() ? "" : ": ", tendon.name, tendon.joints.size()));
    }
    const double coefficient = theta[tendon.coefficients];
    c.armature[s.joints[tendon.joints[0]].dof] += coefficient * coefficient * armature;
  }
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorDescription& described = s.description->actuators[i];
    const ActuatorIndex& actuator = s.actuators[i];
    const double gear2 = theta[actuator.gear] * theta[actuator.gear];
    if (described.transmission == TransmissionType::tendon) {
      c.tendon_damping[actuator.target] += gear2 * described.damping;
    } else if (drives_joint(described)) {
      for (int d = s.joints[actuator.target].dof; d < dof_end(s, actuator.target); ++d) {
        c.armature[d] += gear2 * described.armature;
        c.damping[d] += gear2 * described.damping;
      }
    }
  }
}

}  // namespace articula
