#pragma once
// The terms of applied_forces, in the order in which they are computed.

#include "articula/dynamics/forces.hpp"

namespace articula {

// ---- tendons.cpp: lengths, velocities, and the pull of springs and dampers
void measure_tendons(const Model& model, ForceWork& work, const double* q, const double* v);
void pull_tendons(const Model& model, ForceWork& work);
// passive += c pull,  actuator += c drive
void add_tendon_forces(const Model& model, ForceWork& work);

// The dead band of a tendon's spring: as described, or the length at the joints' spring references.
struct RestLength {
  double low = 0.0, high = 0.0;
  bool of_joints = false;
};
RestLength rest_length(const Model& model, int tendon);

// ---- transmissions.cpp, frame_transmissions.cpp: lengths and velocities of actuators, and their forces
void measure_transmissions(const Model& model, const Data& data, ForceWork& work, const double* q,
                           const double* v);
void measure_frames(const Model& model, const Data& data, ForceWork& work);
void transmit_forces(const Model& model, ForceWork& work, const double* q);
void transmit_to_frames(const Data& data, const Model& model, ForceWork& work);
// own += wrench on the frame, -reaction on the reference frame, and the opposite of both where joints move
// both alike.
void add_transmitted_wrench(const Model& model, const Data& data, const FrameTransmission& t,
                            const Force& wrench, const Force& reaction, std::vector<Force>& own);
std::vector<FrameTransmission> find_frame_transmissions(const Model& model);

// The gear of an actuator on a ball or free joint.
struct TurningGear {
  int turning = 0;               // first turning dof
  int shifting = -1;             // first shifting dof of a free joint, or -1
  const double* gear = nullptr;  // the turning part, as described
  Vec3 axis;                     // the turning part, in the child's axes
  Mat3 R;                        // of the child in the parent
  Vec3 turn;                     // rotation vector of a ball; a free joint has no length
  bool in_parent = false;
};
TurningGear turning_gear(const Model& model, int actuator, const double* q);
bool on_scalar_joint(const Model& model, int actuator);

// ---- actuators.cpp: inputs and forces within limits, and how much of the slope is theirs
void evaluate_actuators(const Model& model, ForceWork& work, const double* activation, const double* u,
                        double dt, const Saturation* held);
std::vector<LimitedJoint> find_limited_joints(const Model& model);
std::vector<TurningServo> find_turning_servos(const Model& model);
double total_gain(const Model& model, const ForceWork& work, int actuator);
void limit_joint_forces(ForceWork& work, const Saturation* held);
void evaluate_slope(const Model& model, ForceWork& work);

// ---- wrench_fields.cpp
void clear(WrenchField& field);
void sum_subtrees(const Model& model, WrenchField& field);
// S . (wrench of all behind the dof)
double projected(const Model& model, const Data& data, const WrenchField& field, int dof);

// ---- fluid.cpp, compensation.cpp
bool in_medium(const Model& model);
void add_drag(const Model& model, const Data& data, WrenchField& field);
void add_compensation(const Model& model, const Data& data, WrenchField& field);
// Whether the actuators of this dof's joint carry the compensation, or an invisible hand.
enum class Carrier { hand, actuator, nobody };
Carrier carrier(const Model& model, int joint);

// From the reference point of a body's tree to that of another's.
inline Vec3 reference_shift(const Model& model, const Data& data, int from, int to) {
  const Structure& s = model.structure();
  return data.link_reference[s.bodies[from].link] - data.link_reference[s.bodies[to].link];
}
// A body's centre of mass, from the reference point of its tree.
inline Vec3 com_from_reference(const Model& model, const Data& data, int body) {
  const int k = model.structure().bodies[body].link;
  return data.link_r[k] + data.link_R[k] * model.constants().body_com[body];
}
// Whether joints move it.
inline bool moved_by_joints(const Structure& s, int body) {
  const LinkKind kind = s.links[s.bodies[body].link].kind;
  return kind != LinkKind::world && kind != LinkKind::kinematic;
}

}  // namespace articula
