#pragma once
// What certificates of all steps say of applied forces.

#include "articula/steppers/free_motion.hpp"

namespace articula {

// Whether a control, an activation or a force is at the very end of its range: beyond it nothing changes any
// more, and the derivative is that of one side.
bool at_force_kink(const Model& model, const FreeMotionWork& free, double dt);

}  // namespace articula
