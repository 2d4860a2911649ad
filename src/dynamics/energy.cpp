#include "articula/dynamics/energy.hpp"

#include "articula/dynamics/springs.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

Energy energy(const Model& model, const Data& data, const ConstVectorRef& q, const ConstVectorRef& v) {
  require_size("v", v.size(), model.nv());
  Energy sum;
  for (int k = 1; k < model.nlink(); ++k) {
    if (model.structure().links[k].kind == LinkKind::kinematic) continue;
    const Inertia& inertia = data.link_inertia[k];
    sum.kinetic += 0.5 * dot(data.link_v[k], inertia * data.link_v[k]);
    sum.potential -= dot(model.gravity(), inertia.moment + data.link_reference[k] * inertia.mass);
  }
  for (int d = 0; d < model.nv(); ++d) sum.kinetic += 0.5 * model.constants().armature[d] * v[d] * v[d];
  sum.elastic = spring_energy(model, q) + tendon_spring_energy(model, q);
  return sum;
}

Vector3 centre_of_mass(const Model& model, const Data& data) {
  Vec3 moment;
  double mass = 0.0;
  for (int k = 1; k < model.nlink(); ++k) {
    if (model.structure().links[k].kind == LinkKind::kinematic) continue;
    moment += data.link_inertia[k].moment + data.link_reference[k] * data.link_inertia[k].mass;
    mass += data.link_inertia[k].mass;
  }
  return mass > 0.0 ? (moment * (1.0 / mass)).eigen() : Vector3::Zero();
}

// Momenta of links are taken about their trees' reference points and shifted to the common centre.
Vector6 momentum(const Model& model, const Data& data) {
  const Vec3 centre(centre_of_mass(model, data));
  Vec3 linear, angular;
  for (int k = 1; k < model.nlink(); ++k) {
    if (model.structure().links[k].kind == LinkKind::kinematic) continue;
    const Force p = data.link_inertia[k] * data.link_v[k];
    linear += p.linear;
    angular += p.moment + cross(data.link_reference[k] - centre, p.linear);
  }
  Vector6 both;
  both << linear.eigen(), angular.eigen();
  return both;
}

}  // namespace articula
