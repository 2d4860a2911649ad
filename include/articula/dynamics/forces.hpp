#pragma once
// The forces at the joints that are neither inertia nor gravity nor contact:
//   passive    joint springs and dampers, tendon springs and dampers, drag of the medium, gravity
//   compensation actuator   what actuators exert, through joints, tendons and frames, within their limits
// all as MuJoCo computes them (qfrc_passive and qfrc_actuator).
//
// An actuator has a length l (of its joint, tendon or pair of frames, times its gear), the velocity
// l' = m . v with its moment arms m, and an input a: the control clamped to its range, the activation, or
// with activation_early the activation a step later.
//   f = (gain_0 + gain_1 l + gain_2 l') a + bias_0 + bias_1 l + bias_2 l'
// The actuators of a tendon with an actuator_force_range are scaled down together until their sum is within
// it; each f is clamped to its force_range; joint forces are sum m f, clamped to the joints'
// actuator_force_range.

#include "articula/kinematics/motion.hpp"

namespace articula {

// Wrenches on bodies, in world axes about the reference points of their trees.
struct WrenchField {
  bool active = false;
  std::vector<Force> own;      // nbody
  std::vector<Force> subtree;  // nbody: with those of all bodies behind it in its tree
};

// How an actuator acts on a frame: a wrench with the frame's axes, or with those of a reference frame that
// takes the opposite. Joints that move both frames alike feel nothing.
struct FrameTransmission {
  int actuator = 0;
  int body = 0, reference_body = -1;
  int common_body = -1;             // of the nearest link that carries both; -1: none but the world
  Mat3 axes;                        // of the wrench, in the world
  Vec3 r, reference_r;              // the frames' origins, from the reference points of their trees
  Mat3 R;                           // the frame's own axes
  Vec3 apart;                       // from the reference frame to the frame
  Vec3 turn;                        // log of the frame's rotation in the reference frame
  Force wrench, reaction;           // per unit of force, on the frame and (negative) on the reference frame
  Motion motion, reference_motion;  // velocities, relative to the common body
};

// A joint with an actuator_force_range.
struct LimitedJoint {
  int dof = 0;
  std::optional<Vector2> range;
};

// A servo, f = k (a - l) + ..., of an angle: about a ball joint, or of a frame about its reference frame.
struct TurningServo {
  int actuator = 0;
  int gear = 0;  // theta: the turning part of its gear
};

// On which side of its range every force is: -1 and 1 at its ends, 0 within.
struct Saturation {
  std::vector<signed char> actuator;  // nu: force_range
  std::vector<signed char> joint;     // per limited joint: actuator_force_range
};

// An actuator on a hinge or slide with a force_range, whose force falls as the joint gets faster.
struct SaturableServo {
  int actuator = 0, dof = 0;
  double gain = 0.0;  // -df / dv_dof, of the sign of its gear
};

struct ForceWork {
  explicit ForceWork(const Model& model);

  // ---- results of applied_forces
  VectorX tau;                             // nv: passive + actuator
  VectorX slope;                           // nv: -d tau_d / d v_d, the part that a step takes implicitly
  VectorX passive, actuator;               // nv
  VectorX length, velocity, force;         // nu: of the actuators; force within its limits
  VectorX tendon_length, tendon_velocity;  // ntendon

  // ---- kept for derivatives and sensors
  VectorX input, raw_force;          // nu: a, and f before limits
  VectorX turns;                     // nu: whole turns that a turning servo leaves out of a
  VectorX tendon_pull;               // ntendon: force of spring and damper along the tendon
  VectorX tendon_drive;              // ntendon: force of actuators along it
  VectorX tendon_sum, tendon_scale;  // ntendon: sum of raw forces, and what limits it
  VectorX before_limits;             // nv: actuator, before joints limit it
  VectorX unlimited;                 // nv: 1, or 0 where a joint's actuator_force_range holds
  VectorX servo_gain;                // nv: -d before_limits / dv of actuators within their own ranges
  VectorX slope_gain;                // nv: the actuators' share of slope
  // ---- limits, and what they limit (saturation.hpp)
  Saturation saturation;
  std::vector<SaturableServo> saturable;  // those of the last call
  VectorX end_force;                      // nu: f before limits, at the end of the step once that is known
  VectorX end_drive;                      // nv: before_limits, at the end of the step once that is known
  WrenchField drag, compensation, thrust;
  std::vector<FrameTransmission> frames;
  std::vector<LimitedJoint> limited;
  std::vector<TurningServo> turning;
};

// Fills `work` for the state and controls given, with `dt` the step that activation_early looks ahead.
// After forward_kinematics and propagate_motion for (q, v): rnea and bias_forces call both.
//
// slope is joint damping (with what actuators reflect to the joint) plus, on hinges and slides, the velocity
// gain -m^2 (gain_2 a + bias_2) of actuators that are within their limits, whatever its sign. Limits hold
// where forces at v are beyond them; with `held`, those of hinges and slides hold as it says. Tendon dampers,
// actuators on balls, free joints, tendons and frames, and drag are not in it: they couple joints.
void applied_forces(const Model& model, const Data& data, ForceWork& work, const ConstVectorRef& q,
                    const ConstVectorRef& v, const ConstVectorRef& activation, const ConstVectorRef& u,
                    double dt, const Saturation* held = nullptr);

}  // namespace articula
