#include "articula/dynamics/springs.hpp"
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

namespace {

double length_of(const Model& model, size_t t, const double* q) {
  const TendonIndex& tendon = model.structure().tendons[t];
  const double* c = model.theta().data() + tendon.coefficients;
  double length = 0.0;
  for (int j : tendon.joints) length += *c++ * q[model.structure().joints[j].q];
  return length;
}

// l - nearest length of rest
double stretch_of(const Model& model, size_t t, double length) {
  const RestLength rest = rest_length(model, static_cast<int>(t));
  return length - std::clamp(length, rest.low, rest.high);
}

}  // namespace

void add_tendon_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const double pull =
        -model.theta()[s.tendons[t].stiffness] * stretch_of(model, t, length_of(model, t, q.data()));
    const double* c = model.theta().data() + s.tendons[t].coefficients;
    for (int j : s.tendons[t].joints) tau[s.joints[j].dof] += *c++ * pull;
  }
}

double tendon_spring_energy(const Model& model, const ConstVectorRef& q) {
  double sum = 0.0;
  for (size_t t = 0; t < model.structure().tendons.size(); ++t) {
    const double stretch = stretch_of(model, t, length_of(model, t, q.data()));
    sum += 0.5 * model.theta()[model.structure().tendons[t].stiffness] * stretch * stretch;
  }
  return sum;
}

// -k (l - nearest length of rest) - b l'
void pull_tendons(const Model& model, ForceWork& work) {
  const Structure& s = model.structure();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    const double k = model.theta()[s.tendons[t].stiffness];
    double pull = -model.constants().tendon_damping[t] * work.tendon_velocity[t];
    if (k != 0.0) pull -= k * stretch_of(model, t, work.tendon_length[t]);
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
