#include "articula/dynamics/forces.hpp"

#include "articula/dynamics/springs.hpp"
#include "articula/model/sizes.hpp"
#include "force_terms.hpp"

namespace articula {

namespace {

bool any_compensation(const Structure& s) {
  for (const BodyIndex& body : s.bodies) {
    if (body.gravity_compensation != 0.0) return true;
  }
  return false;
}

VectorX zeros(int size) { return VectorX::Zero(size); }

void size_field(WrenchField& field, const Model& model, bool active) {
  field.active = active;
  field.own.resize(model.nbody());
  field.subtree.resize(model.nbody());
}

// Each dof's share of the drag and of the forces that carry bodies against gravity.
void add_wrenches(const Model& model, const Data& data, ForceWork& work) {
  work.drag.active = in_medium(model);
  if (work.drag.active) {
    clear(work.drag);
    add_drag(model, data, work.drag);
    sum_subtrees(model, work.drag);
    for (int d = 0; d < model.nv(); ++d) work.passive[d] += projected(model, data, work.drag, d);
  }
  if (work.compensation.active) {
    clear(work.compensation);
    add_compensation(model, data, work.compensation);
    sum_subtrees(model, work.compensation);
    for (int d = 0; d < model.nv(); ++d) {
      const Carrier by = carrier(model, model.structure().dofs[d].joint);
      if (by == Carrier::nobody) continue;
      (by == Carrier::hand ? work.passive : work.actuator)[d] += projected(model, data, work.compensation, d);
    }
  }
}

}  // namespace

ForceWork::ForceWork(const Model& model)
    : tau(zeros(model.nv())),
      slope(zeros(model.nv())),
      passive(zeros(model.nv())),
      actuator(zeros(model.nv())),
      length(zeros(model.nu())),
      velocity(zeros(model.nu())),
      force(zeros(model.nu())),
      input(zeros(model.nu())),
      raw_force(zeros(model.nu())),
      turns(zeros(model.nu())),
      before_limits(zeros(model.nv())),
      unlimited(zeros(model.nv())),
      servo_gain(zeros(model.nv())),
      slope_gain(zeros(model.nv())),
      end_force(zeros(model.nu())),
      end_drive(zeros(model.nv())),
      frames(find_frame_transmissions(model)),
      limited(find_limited_joints(model)),
      turning(find_turning_servos(model)) {
  saturation.actuator.resize(model.nu());
  saturation.joint.resize(limited.size());
  saturable.reserve(model.nu());
  const int ntendon = static_cast<int>(model.structure().tendons.size());
  for (VectorX* vector :
       {&tendon_length, &tendon_velocity, &tendon_pull, &tendon_drive, &tendon_sum, &tendon_scale}) {
    *vector = zeros(ntendon);
  }
  size_field(drag, model, in_medium(model));
  size_field(compensation, model, any_compensation(model.structure()));
  size_field(thrust, model, !frames.empty());
}

void applied_forces(const Model& model, const Data& data, ForceWork& work, const ConstVectorRef& q,
                    const ConstVectorRef& v, const ConstVectorRef& activation, const ConstVectorRef& u,
                    double dt, const Saturation* held) {
  require_size("q", q.size(), model.nq());
  require_size("v", v.size(), model.nv());
  require_size("activation", activation.size(), model.na());
  require_size("u", u.size(), model.nu());
  for (int d = 0; d < model.nv(); ++d) work.passive[d] = -model.constants().damping[d] * v[d];
  work.actuator.setZero();
  add_spring_forces(model, q, work.passive);
  measure_tendons(model, work, q.data(), v.data());
  pull_tendons(model, work);
  add_wrenches(model, data, work);

  measure_transmissions(model, data, work, q.data(), v.data());
  evaluate_actuators(model, work, activation.data(), u.data(), dt, held);
  transmit_forces(model, work, q.data());
  add_tendon_forces(model, work);
  if (work.thrust.active) {
    clear(work.thrust);
    transmit_to_frames(data, model, work);
    sum_subtrees(model, work.thrust);
    for (int d = 0; d < model.nv(); ++d) work.actuator[d] += projected(model, data, work.thrust, d);
  }
  limit_joint_forces(work, held);
  work.tau = work.passive + work.actuator;
  evaluate_slope(model, work);
}

}  // namespace articula
