#include "../dynamics/force_terms.hpp"
#include "articula/error.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula {

namespace {

// Wrenches on links, about the reference points of their trees.
struct LinkWrenches {
  const Model& model;
  const Data& data;
  std::vector<Force> on;

  void add(int link, const Vector3& position, const Vector3& force, const Vector3& torque, double scale) {
    const Vec3 r = Vec3(position) - data.link_reference[link], f(force);
    on[link] += Force{Vec3(torque) + cross(r, f), f} * scale;
  }

  void add(const WrenchField& field) {
    if (!field.active) return;
    for (int b = 1; b < model.nbody(); ++b) on[model.structure().bodies[b].link] += field.own[b];
  }
};

// Weight carried by the actuators of a joint acts there, weight carried by an invisible hand on the bodies.
bool actuators_carry_weight(const Model& model) {
  for (int j = 0; j < model.njoint(); ++j) {
    if (carrier(model, j) == Carrier::actuator) return true;
  }
  return false;
}

}  // namespace

// f_k = sum over k and all behind it of (I a + v x* I v - wrenches)
Matrix6X joint_reactions(const Simulation& simulation, const Step& step) {
  const Simulation::Lease lease(simulation);
  lease->forget();
  const Model& model = simulation.model();
  const Structure& s = model.structure();
  const double h = simulation.dt();
  Data& data = lease->data;
  FreeMotionWork& motion = lease->motion();
  const StepSettings settings{h, simulation.settings().implicit_gyroscopic};
  VectorX v_free(model.nv());
  const StepStatus status = free_velocity(model, data, motion, settings, step.start, step.input, v_free);
  if (!step.ok() || status != StepStatus::ok) throw Error("a step that failed has no joint reactions");

  const VectorX acceleration = (step.next.v - step.start.v) / h;
  propagate_motion(model, data, step.start.v.data(), acceleration.data());
  gather_forces(model, data, {motion.external(), settings.implicit_gyroscopic ? h : 0.0});
  LinkWrenches wrenches{model, data, std::vector<Force>(s.links.size())};
  for (const StepContact& c : step.contacts) {
    wrenches.add(s.geometries[c.geometry_a].link, c.position, c.impulse, c.torque_impulse, -1.0 / h);
    wrenches.add(s.geometries[c.geometry_b].link, c.position, c.impulse, c.torque_impulse, 1.0 / h);
  }
  for (const StepLoop& loop : step.loops) {
    const Vector3 between = 0.5 * (loop.position_a + loop.position_b);
    wrenches.add(loop.link_a, between, loop.impulse, loop.torque_impulse, -1.0 / h);
    wrenches.add(loop.link_b, between, loop.impulse, loop.torque_impulse, 1.0 / h);
  }
  wrenches.add(motion.forces.drag);
  wrenches.add(motion.forces.thrust);
  if (!actuators_carry_weight(model)) wrenches.add(motion.forces.compensation);
  for (int k = model.nlink() - 1; k > 0; --k) {
    if (!s.links[k].root) wrenches.on[s.links[k].parent] += wrenches.on[k];
  }

  Matrix6X reactions(6, model.njoint());
  for (int j = 0; j < model.njoint(); ++j) {
    const int k = s.joints[j].link;
    const Vec3 anchor = data.link_r[k] + data.link_R[k] * model.constants().joints[j].anchor;
    const Force about_anchor = shifted(data.link_force[k] - wrenches.on[k], -anchor);
    reactions.col(j) << about_anchor.linear.eigen(), about_anchor.moment.eigen();
  }
  return reactions;
}

}  // namespace articula
