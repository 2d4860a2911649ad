#pragma once
// `articula bench steps`: whole steps in contact, beside MuJoCo's on the same models and controls.

#include <string>
#include <vector>

namespace articula::bench {

struct StepFigure {
  std::string name;
  double value = 0.0;
  std::string unit;
};

struct StepFigures {
  std::vector<StepFigure> figures;
  std::vector<std::string> notes;  // why something is missing, and what differs from the rival
};

// `full`: all built-in models, and more repeats.
StepFigures measure_steps(bool full);

}  // namespace articula::bench
