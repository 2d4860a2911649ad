#include "bench/support/contact_scenes.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "articula/io/load.hpp"

namespace articula::bench {

const std::vector<Scene>& shared_scenes() {
  static const std::vector<Scene> scenes = {{"half_cheetah", "mjcf/half_cheetah/half_cheetah.xml", "", 0.5},
                                            {"humanoid", "mjcf/humanoid_mujoco/humanoid.xml", "squat", 0.2},
                                            {"ur5e", "mjcf/universal_robots_ur5e/scene.xml", "home", 0.4},
                                            {"go1", "mjcf/unitree_go1/scene.xml", "home", 0.1},
                                            {"h1", "mjcf/unitree_h1/scene.xml", "home", 0.1},
                                            {"talos", "mjcf/pal_talos/scene_motor.xml", "", 0.05}};
  return scenes;
}

std::vector<Scene> own_scenes(bool full, bool with_shared) {
  std::vector<std::string> names = {"quadruped", "biped",  "arm",   "ant",
                                    "hopper",    "walker", "stack", "boxes_and_balls"};
  if (!with_shared) names.insert(names.begin(), {"half_cheetah", "humanoid"});
  if (full) names = model_names();
  std::vector<Scene> scenes;
  for (const std::string& name : names) {
    const auto clash = [&](const Scene& s) { return s.name == name; };
    if (with_shared && std::any_of(shared_scenes().begin(), shared_scenes().end(), clash)) continue;
    scenes.push_back({name, "", "home", 0.3});
  }
  return scenes;
}

namespace {

constexpr int settling = 300;

// Swinging controls about the keyframe's, or about the middle of their ranges; each actuator has its own
// phase.
MatrixX swinging_controls(const Model& model, const VectorX& centre, double amplitude, int count) {
  MatrixX controls(model.nu(), count);
  for (int i = 0; i < model.nu(); ++i) {
    const auto& range = model.description().actuators[static_cast<std::size_t>(i)].control_range;
    const double half = range ? 0.5 * ((*range)[1] - (*range)[0]) : 1.0;
    const double middle = centre.size() > 0 ? centre[i] : range ? 0.5 * ((*range)[1] + (*range)[0]) : 0.0;
    for (int k = 0; k < count; ++k)
      controls(i, k) = middle + amplitude * half * std::sin(2.0 * M_PI * model.timestep() * k + 1.7 * i);
  }
  return controls;
}

}  // namespace

Case prepare(const Scene& scene, const std::string& path, int steps) {
  Case c{load(path), {}, {}};
  c.start = neutral_state(c.model);
  VectorX centre;
  for (const KeyframeDescription& key : c.model.description().keyframes) {
    if (key.name != scene.keyframe) continue;
    if (!key.q.empty()) c.start.q = Eigen::Map<const VectorX>(key.q.data(), c.model.nq());
    if (!key.control.empty()) centre = Eigen::Map<const VectorX>(key.control.data(), c.model.nu());
  }
  const MatrixX controls = swinging_controls(c.model, centre, scene.amplitude, settling + steps);
  const Simulation simulation(c.model);
  c.start = rollout(simulation, c.start, controls.leftCols(settling)).last();
  c.controls = controls.rightCols(steps);
  return c;
}

double processor_seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = now();
  work();
  return now() - before;
}

}  // namespace articula::bench
