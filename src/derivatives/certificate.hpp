#pragma once
// What certificates of all steps say of applied forces.

#include "articula/steppers/free_motion.hpp"

namespace articula {

// Whether a control, an activation or a force is at the very end of its range: beyond it nothing changes any
// more, and the derivative is that of one side.
bool at_force_kink(const Model& model, const FreeMotionWork& free, double dt);

// How far servos are from reaching or leaving their limits, as rows would be: within, the impulse that is
// left; at an end, the velocity by which the law of the servo is missed.
struct ServoMargin {
  double impulse, velocity;  // N s, m/s (N m s, rad/s); infinite if none applies
};
ServoMargin servo_margin(const Model& model, const ForceWork& forces, double dt);

}  // namespace articula
