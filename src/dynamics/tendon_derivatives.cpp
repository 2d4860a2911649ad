#include "actuator_terms.hpp"
#include "model/reflected.hpp"

namespace articula {

namespace {

// Where the spring of a tendon pulls: how far it is from rest, and whether rest follows the joints' springs.
struct TendonStretch {
  double stretch = 0.0;
  bool pulls = false, rest_of_joints = false;
};

TendonStretch tendon_stretch(const Model& model, const ForceWork& forces, int t) {
  const RestLength rest = rest_length(model, t);
  const double l = forces.tendon_length[t];
  const double nearest = std::clamp(l, rest.low, rest.high);
  return {l - nearest, l <= rest.low || l >= rest.high, rest.of_joints};
}

}  // namespace

double spring_rate(const Model& model, const ForceWork& forces, int t) {
  const double k = model.theta()[model.structure().tendons[t].stiffness];
  return k != 0.0 && tendon_stretch(model, forces, t).pulls ? k : 0.0;
}

// l = sum c q,  l' = sum c v,  pull = -k (l - nearest length of rest) - b l'
void tendons_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const ForceArguments& at, const ForceDirection& along) {
  const Structure& s = model.structure();
  const double *theta = model.theta().data(), *dtheta = along.theta;
  for (size_t i = 0; i < s.tendons.size(); ++i) {
    const int t = static_cast<int>(i);
    const TendonIndex& tendon = s.tendons[i];
    double length = 0.0, velocity = 0.0, rest = 0.0;
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const JointIndex& joint = s.joints[tendon.joints[k]];
      const double c = theta[tendon.coefficients + k];
      if (along.q != nullptr) length += c * along.q[joint.dof];
      if (along.v != nullptr) velocity += c * along.v[joint.dof];
      if (dtheta == nullptr) continue;
      const double dc = dtheta[tendon.coefficients + k];
      length += dc * at.q[joint.q];
      velocity += dc * at.v[joint.dof];
      rest += dc * theta[joint.spring_reference] + c * dtheta[joint.spring_reference];
    }
    work.tendon_length[t] = length;
    work.tendon_velocity[t] = velocity;
    work.tendon_pull[t] = -model.constants().tendon_damping[i] * velocity;
    const double rate = spring_rate(model, forces, t);
    if (rate == 0.0 && dtheta == nullptr) continue;
    const TendonStretch stretch = tendon_stretch(model, forces, t);
    work.tendon_pull[t] -= rate * (length - (stretch.rest_of_joints ? rest : 0.0));
    if (dtheta != nullptr) work.tendon_pull[t] -= dtheta[tendon.stiffness] * stretch.stretch;
  }
  if (dtheta == nullptr) return;
  for_each_tendon_damping_partial(s, model.theta(), [&](int t, int k, double partial) {
    work.tendon_pull[t] -= partial * dtheta[k] * forces.tendon_velocity[t];
  });
}

void tendons_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const ForceArguments& at, ForceGradient& to) {
  const Structure& s = model.structure();
  const double* theta = model.theta().data();
  if (to.theta != nullptr) {
    for_each_tendon_damping_partial(s, model.theta(), [&](int t, int k, double partial) {
      to.theta[k] -= partial * forces.tendon_velocity[t] * work.tendon_pull[t];
    });
  }
  for (size_t i = 0; i < s.tendons.size(); ++i) {
    const int t = static_cast<int>(i);
    const TendonIndex& tendon = s.tendons[i];
    const double pull_bar = work.tendon_pull[t];
    const double rate = spring_rate(model, forces, t);
    const double l_bar = work.tendon_length[t] - rate * pull_bar;
    const double rate_bar = work.tendon_velocity[t] - model.constants().tendon_damping[i] * pull_bar;
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const JointIndex& joint = s.joints[tendon.joints[k]];
      const double c = theta[tendon.coefficients + k];
      to.q[joint.dof] += c * l_bar;
      to.v[joint.dof] += c * rate_bar;
      if (to.theta != nullptr) {
        to.theta[tendon.coefficients + k] += at.q[joint.q] * l_bar + at.v[joint.dof] * rate_bar;
      }
    }
    if (to.theta == nullptr) continue;
    const TendonStretch stretch = tendon_stretch(model, forces, t);
    to.theta[tendon.stiffness] -= stretch.stretch * pull_bar;
    if (!stretch.rest_of_joints) continue;
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const JointIndex& joint = s.joints[tendon.joints[k]];
      to.theta[tendon.coefficients + k] += rate * pull_bar * theta[joint.spring_reference];
      to.theta[joint.spring_reference] += rate * pull_bar * theta[tendon.coefficients + k];
    }
  }
}

void add_tendons_along(const Model& model, const ForceWork& forces, const ForceDerivativeWork& work,
                       const ForceDirection& along, double* passive, double* actuator) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const TendonIndex& tendon = s.tendons[t];
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const int d = s.joints[tendon.joints[k]].dof;
      const double c = model.theta()[tendon.coefficients + k];
      const double dc = along.theta == nullptr ? 0.0 : along.theta[tendon.coefficients + k];
      passive[d] += c * work.tendon_pull[t] + dc * forces.tendon_pull[t];
      actuator[d] += c * work.tendon_drive[t] + dc * forces.tendon_drive[t];
    }
  }
}

void add_tendons_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                         const double* passive_bar, const double* actuator_bar, ForceGradient& to) {
  const Structure& s = model.structure();
  work.tendon_length.setZero();
  work.tendon_velocity.setZero();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const TendonIndex& tendon = s.tendons[t];
    work.tendon_pull[t] = work.tendon_drive[t] = 0.0;
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const int d = s.joints[tendon.joints[k]].dof;
      const double c = model.theta()[tendon.coefficients + k];
      work.tendon_pull[t] += c * passive_bar[d];
      work.tendon_drive[t] += c * actuator_bar[d];
      if (to.theta == nullptr) continue;
      to.theta[tendon.coefficients + k] +=
          forces.tendon_pull[t] * passive_bar[d] + forces.tendon_drive[t] * actuator_bar[d];
    }
  }
}

}  // namespace articula
