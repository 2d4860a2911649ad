#pragma once
// `articula bench gradients`: Jacobians and adjoints of steps in contact, beside a step, differences, and
// MuJoCo's.

#include <string>
#include <vector>

namespace articula::bench {

struct GradientFigure {
  std::string name;
  double value = 0.0;
  std::string unit;
};

struct GradientFigures {
  std::vector<GradientFigure> figures;
  std::vector<std::string> notes;
};

// `full`: more robots, more states and repeats.
GradientFigures measure_gradients(bool full);

// Which Jacobians are timed, ours and by differences of steps.
enum class Blocks {
  step,                // (q, v, activation)+ with respect to (q, v, activation) and controls
  step_by_forces,      // the same, with respect to forces on all degrees of freedom in place of controls
  velocity_by_forces,  // v+ alone, with respect to (q, v, activation) and those forces
};

// One robot in contact, in us: least means over states of a trajectory.
struct RobotTimes {
  double step = 0.0, jacobians = 0.0, adjoint = 0.0, adjoint_all_parameters = 0.0;
  double central = 0.0, ridders = 0.0;  // the same Jacobians by differences of warm steps
  double contacts = 0.0;                // on average
  int dofs = 0, inputs = 0;             // numbers that the Jacobians are with respect to
};

// A scene's name (contact_scenes.hpp), `atlas`, or a built-in model's. Throws Error if its files are not
// there.
RobotTimes time_robot(const std::string& name, bool pyramid, Blocks blocks, bool full);

}  // namespace articula::bench
