#include "force_terms.hpp"

namespace articula {

// l = sum c q,  l' = sum c v
void measure_tendons(const Model& model, ForceWork& work, const double* q, const double* v) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const TendonIndex& tendon = s.tendons[t];
    const double* c = model.theta().data() + tendon.coefficients;
    double length = 0.0, velocity = 0.0;
    for (int j : tendon.joints) {
      length += *c * q[s.joints[j].q];
      velocity += *c++ * v[s.joints[j].dof];
    }
    work.tendon_length[t] = length;
    work.tendon_velocity[t] = velocity;
  }
}

RestLength rest_length(const Model& model, int t) {
  const Structure& s = model.structure();
  const std::optional<Vector2>& described = model.description().tendons[t].spring_length;
  if (described) return {(*described)[0], (*described)[1], false};
  const double* c = model.theta().data() + s.tendons[t].coefficients;
  double length = 0.0;
  for (int j : s.tendons[t].joints) length += *c++ * model.theta()[s.joints[j].spring_reference];
  return {length, length, true};
}

// -k (l - nearest length of rest) - b l'
void pull_tendons(const Model& model, ForceWork& work) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const double k = model.theta()[s.tendons[t].stiffness];
    double pull = -model.constants().tendon_damping[t] * work.tendon_velocity[t];
    if (k != 0.0) {
      const RestLength rest = rest_length(model, static_cast<int>(t));
      pull -= k * (work.tendon_length[t] - std::clamp(work.tendon_length[t], rest.low, rest.high));
    }
    work.tendon_pull[t] = pull;
  }
}

void add_tendon_forces(const Model& model, ForceWork& work) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const double* c = model.theta().data() + s.tendons[t].coefficients;
    for (int j : s.tendons[t].joints) {
      work.passive[s.joints[j].dof] += *c * work.tendon_pull[t];
      work.actuator[s.joints[j].dof] += *c++ * work.tendon_drive[t];
    }
  }
}

}  // namespace articula
