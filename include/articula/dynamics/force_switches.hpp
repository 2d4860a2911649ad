#pragma once
// Where applied forces and activations have kinks, on which side of each a state is, and how far from it.
// Derivatives are those of the side; a certificate needs the margin.

#include "articula/dynamics/force_derivatives.hpp"

namespace articula {

struct ForceSwitch {
  enum class Kind {
    control_range,       // actuator: its control
    activation_range,    // actuator: its activation a step later
    force_range,         // actuator: its force, at the end of the step where that decides (saturation.hpp)
    servo_turn,          // actuator: the whole turns that its servo leaves out
    tendon_force_range,  // tendon: the sum of its actuators
    tendon_rest,         // tendon: within or beyond the dead band of its spring
    joint_force_range,   // dof: the sum of its actuators, likewise
    drag_direction       // body: sign of a velocity through the medium; forces are once differentiable there
  };
  Kind kind = Kind::control_range;
  int index = 0;
  int side = 0;         // -1, 0, 1: below, within, above a range; -1, 1: sign; number of turns
  double margin = 0.0;  // to the nearest end, in the unit of what is limited; not negative
};

// All of them, in an order that depends on the model alone. After applied_forces for the same arguments.
void force_switches(const Model& model, const Data& data, const ForceWork& forces, const ForceArguments& at,
                    std::vector<ForceSwitch>& out);

// Whether one of them is no farther than this, directions of drag left aside.
bool near_force_kink(const Model& model, const ForceWork& forces, const ForceArguments& at, double within);

}  // namespace articula
