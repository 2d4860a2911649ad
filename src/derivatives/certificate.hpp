#pragma once
// What certificates of all steps say of applied forces.

#include <vector>

#include "articula/steppers/free_motion.hpp"

namespace articula {

struct ForceSwitch;

// Whether a control, an activation or a force is at the very end of its range: beyond it nothing changes any
// more, and the derivative is that of one side. `switches` is room.
bool at_force_kink(const Model& model, const Data& data, const FreeMotionWork& free, double dt,
                   std::vector<ForceSwitch>& switches);

}  // namespace articula
