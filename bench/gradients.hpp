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

// One robot in contact, in us: least means over states of a trajectory.
struct RobotTimes {
  double step = 0.0, jacobians = 0.0, adjoint = 0.0, adjoint_all_parameters = 0.0;
  double central = 0.0, ridders = 0.0;  // the same Jacobians by differences of warm steps
  double contacts = 0.0;                // on average
  int dofs = 0;
};

// A scene's name (contact_scenes.hpp), `atlas`, or a built-in model's. Throws Error if its files are not
// there.
RobotTimes time_robot(const std::string& name, bool pyramid, bool full);

}  // namespace articula::bench
