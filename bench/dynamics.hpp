#pragma once

#include <string>
#include <vector>

namespace articula::bench {

struct DynamicsFigure {
  std::string name;
  double value = 0.0;
  std::string unit;
};

struct DynamicsFigures {
  std::vector<DynamicsFigure> figures;
  std::vector<std::string> notes;  // why something is missing, and what the rivals are
};

/// Times of the rigid-body kernels on our own robots and chains, beside Pinocchio's and MuJoCo's on the same
/// models and states, in turns, so that noise hits all alike.
DynamicsFigures measure_dynamics(bool full);

}  // namespace articula::bench
