#include "bench/support/contact_scenes.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "articula/io/load.hpp"
#include "articula/simulation/simulation.hpp"

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

const Scene& atlas_scene() {
  static const Scene scene{"atlas", "urdf/atlas_v5/atlas_complex.urdf", "", 0.05};
  return scene;
}

namespace {

// A robot that stands on a floor, each joint held by a servo. Its motor's inertia keeps servos of light links
// stable.
Model standing(const std::string& path) {
  Description d = describe(path, {.visual_meshes = false, .floating_base = true});
  GeometryDescription floor;
  floor.name = "floor";
  floor.type = ShapeType::plane;
  floor.size = {0.0, 0.0, 1.0};  // endless
  d.geometries.push_back(floor);
  for (BodyDescription& body : d.bodies) {
    for (JointDescription& joint : body.joints) {
      if (joint.type != JointType::hinge) continue;
      joint.armature = 0.1;
      ActuatorDescription servo;
      servo.name = servo.target = joint.name;
      servo.gain = {2000.0, 0.0, 0.0};
      servo.bias = {0.0, -2000.0, -50.0};
      servo.control_range = Vector2(-1.0, 1.0);
      d.actuators.push_back(servo);
    }
  }
  return build(std::move(d));
}

// Down until the lowest contact touches.
void put_on_floor(const Model& model, State& state) {
  const Simulation simulation(model);
  state.q[2] = 2.0;
  for (double step = 0.5; step > 1e-4; step *= 0.5) {
    for (int i = 0; i < 10; ++i) {
      State lower = state;
      lower.q[2] -= step;
      double least = 1.0;
      for (const StepContact& contact : simulation.step(lower).contacts)
        least = std::min(least, contact.distance);
      if (least < 0.0) break;
      state = lower;
    }
  }
}

}  // namespace

Case prepare(const Scene& scene, const std::string& path, int steps) {
  const bool bare = path.ends_with(".urdf");
  Case c{bare ? standing(path) : load(path), {}, {}};
  c.start = neutral_state(c.model);
  if (bare) put_on_floor(c.model, c.start);
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
  static const double reading = [&] {  // of the clock
    double least = 1.0;
    for (int i = 0; i < 1000; ++i) {
      const double first = now();
      least = std::min(least, now() - first);
    }
    return least;
  }();
  const double before = now();
  work();
  return std::max(now() - before - reading, 0.0);
}

}  // namespace articula::bench
