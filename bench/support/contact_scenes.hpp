#pragma once
// Robots in contact, as benchmarks of steps and of their gradients drive them.

#include <functional>

#include "articula/simulation/rollout.hpp"

namespace articula::bench {

// A model in contact: where it starts, and how far its controls swing (in half ranges of the actuators).
struct Scene {
  std::string name;
  const char* file = "";  // among the shared models; empty: built in
  const char* keyframe = "";
  double amplitude = 0.2;
};

struct Case {
  Model model;
  State start;       // after settling
  MatrixX controls;  // nu x steps
};

// A state along a trajectory, and the modes of the step before.
struct Sample {
  State state;
  Input input;
  WarmStart warm;
};

// Third-party robots, and our own: a few, or all of them (`full`); names that both have are theirs.
const std::vector<Scene>& shared_scenes();
std::vector<Scene> own_scenes(bool full, bool with_shared);

// Atlas, whose description has neither floor nor motors: both are added, and its feet put on the floor.
const Scene& atlas_scene();

Case prepare(const Scene& scene, const std::string& path, int steps);

// Processor time of this thread: what other processes take from it does not count.
double processor_seconds(const std::function<void()>& work);

}  // namespace articula::bench
