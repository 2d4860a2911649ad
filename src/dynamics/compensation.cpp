#include "force_terms.hpp"

namespace articula {

// -c m g at the centre of mass
void add_compensation(const Model& model, const Data& data, WrenchField& field) {
  const Structure& s = model.structure();
  for (int b = 1; b < model.nbody(); ++b) {
    if (s.bodies[b].gravity_compensation == 0.0) continue;
    const double mass = model.theta()[s.bodies[b].inertia];
    const Vec3 force = model.gravity() * (-mass * s.bodies[b].gravity_compensation);
    field.own[b] += Force{cross(com_from_reference(model, data, b), force), force};
  }
}

// Without a single actuator, what actuators should carry is carried by nobody, as in MuJoCo.
Carrier carrier(const Model& model, int joint) {
  const Structure& s = model.structure();
  const JointIndex& index = s.joints[joint];
  const BodyDescription& body = model.description().bodies[index.body - 1];
  if (!body.joints[joint - s.links[index.link].joint_begin].actuator_carries_gravity) return Carrier::hand;
  return s.nu > 0 ? Carrier::actuator : Carrier::nobody;
}

}  // namespace articula
