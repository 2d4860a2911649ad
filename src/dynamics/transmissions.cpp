#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "force_terms.hpp"
#include "model/reflected.hpp"

namespace articula {

bool on_scalar_joint(const Model& model, int i) {
  if (!drives_joint(model.description().actuators[i])) return false;
  const JointType type = model.structure().joints[model.structure().actuators[i].target].type;
  return type == JointType::hinge || type == JointType::slide;
}

// A ball's gear turns; a free joint's first three numbers shift (in the world) and the last three turn.
TurningGear turning_gear(const Model& model, int i, const double* q) {
  const ActuatorIndex& actuator = model.structure().actuators[i];
  const JointIndex& joint = model.structure().joints[actuator.target];
  const bool free = joint.type == JointType::free;
  TurningGear gear;
  gear.turning = turning_dof(joint);
  gear.shifting = free ? joint.dof : -1;
  gear.gear = model.theta().data() + actuator.gear + (free ? 3 : 0);
  gear.in_parent = model.description().actuators[i].transmission == TransmissionType::joint_in_parent;
  const Quat rotation = load_quaternion(q + joint.q + (free ? 3 : 0));
  if (!free) gear.turn = log_rotation(rotation);
  gear.axis = load3(gear.gear);
  if (gear.in_parent) {
    gear.R = rotation_matrix(rotation);
    gear.axis = transpose_times(gear.R, gear.axis);
  }
  return gear;
}

// hinge, slide:  l = g q             m = g
// ball:          l = g . log R       m = g, or R^T g where it is given in the parent's axes
// free:          l = 0               m = (g_shift, g_turn), or with R^T g_turn
// tendon:        l = g l_tendon      m = g c
void measure_transmissions(const Model& model, const Data& data, ForceWork& work, const double* q,
                           const double* v) {
  const Structure& s = model.structure();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double* gear = model.theta().data() + actuator.gear;
    const TransmissionType type = model.description().actuators[i].transmission;
    if (type == TransmissionType::frame) continue;
    if (type == TransmissionType::tendon) {
      work.length[i] = gear[0] * work.tendon_length[actuator.target];
      work.velocity[i] = gear[0] * work.tendon_velocity[actuator.target];
    } else if (on_scalar_joint(model, i)) {
      work.length[i] = gear[0] * q[s.joints[actuator.target].q];
      work.velocity[i] = gear[0] * v[s.joints[actuator.target].dof];
    } else {
      const TurningGear turning = turning_gear(model, i, q);
      work.length[i] = dot(turning.turn, load3(turning.gear));
      work.velocity[i] = dot(turning.axis, load3(v + turning.turning));
      if (turning.shifting >= 0) work.velocity[i] += dot(load3(gear), load3(v + turning.shifting));
    }
  }
  measure_frames(model, data, work);
}

// actuator += m f; tendons and frames pass it on.
void transmit_forces(const Model& model, ForceWork& work, const double* q) {
  const Structure& s = model.structure();
  work.tendon_drive.setZero();
  for (int i = 0; i < s.nu; ++i) {
    const ActuatorIndex& actuator = s.actuators[i];
    const double* gear = model.theta().data() + actuator.gear;
    const double f = work.force[i];
    const TransmissionType type = model.description().actuators[i].transmission;
    if (type == TransmissionType::frame) continue;
    if (type == TransmissionType::tendon) {
      work.tendon_drive[actuator.target] += gear[0] * f;
    } else if (on_scalar_joint(model, i)) {
      work.actuator[s.joints[actuator.target].dof] += gear[0] * f;
    } else {
      const TurningGear turning = turning_gear(model, i, q);
      for (int k = 0; k < 3; ++k) {
        work.actuator[turning.turning + k] += turning.axis[k] * f;
        if (turning.shifting >= 0) work.actuator[turning.shifting + k] += gear[k] * f;
      }
    }
  }
}

}  // namespace articula
