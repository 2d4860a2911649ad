#pragma once
// Where the controls of a simulation come from: built in, or a file.

#include <random>
#include <string>

#include "articula/model/model.hpp"

namespace articula::cli {

struct ControlOptions {
  std::string source;      // zero, keyframe, random, sine, or a file (.csv, .npz); empty: keyframe if given
  double amplitude = 1.0;  // of random and sine, in half ranges of each actuator
  double frequency = 1.0;  // Hz, of sine
  double hold = 0.05;      // s, how long a random control lasts
  unsigned seed = 1;
};

class Controls {
 public:
  // keyframe: controls to start from (nu), or empty. Throws Error for a file that does not fit the model.
  Controls(const Model& model, const ControlOptions& options, const VectorX& keyframe);

  // Steps that a file has controls for; -1: as many as wanted.
  int steps() const { return from_file_ ? static_cast<int>(table_.cols()) : -1; }
  // The controls of step i, which begins at `time`.
  const VectorX& at(int i, double time, double dt);

 private:
  enum class Kind { constant, random, sine };

  ControlOptions options_;
  Kind kind_ = Kind::constant;
  bool from_file_ = false;
  VectorX centre_, half_range_, low_, high_, current_;
  MatrixX table_;  // nu x steps
  std::mt19937_64 random_;
  double next_change_ = 0.0;
};

}  // namespace articula::cli
