#pragma once
// Where a simulation starts, and what pushes it on its way.

#include <string>
#include <vector>

#include "articula/steppers/step.hpp"

namespace articula::cli {

struct Start {
  State state;
  VectorX controls;  // of the keyframe; empty: none
};

// The default state, or a keyframe's, with the velocities JOINT=V1,V2,... set. Throws Error for what does not
// exist.
Start starting_point(const Model& model, const std::string& keyframe,
                     const std::vector<std::string>& velocities);

// A force on a body's centre of mass for a while.
struct Push {
  int body = 0;
  Vector3 force;              // N, world axes
  double begin = 0, end = 0;  // s
};

// Of texts BODY:FX,FY,FZ[@TIME[+DURATION]]; without a duration it lasts 0.1 s. Throws Error for anything
// else, and for pushes outside of the simulated time.
std::vector<Push> parse_pushes(const Model& model, const std::vector<std::string>& texts, double from,
                               double to);

// Sets input.wrenches to what pushes during the step that begins at `time`. A push that lasts for a part of
// the step has the impulse of that part.
void apply(const std::vector<Push>& pushes, double time, double dt, const Model& model, Input& input);

}  // namespace articula::cli
