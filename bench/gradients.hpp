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

}  // namespace articula::bench
