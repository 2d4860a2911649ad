#include "tests/support/scene_problems.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing {

namespace {

enum class Drive { none, shaken, trot, squeeze };

struct Script {
  const char* model;
  const char* keyframe;
  Drive drive;
  int length;    // steps of an episode
  double speed;  // of the velocities at its start, m/s and rad/s
  double push;   // of forces on the joints, as a part of the weight
};

// Episodes end before everything has come to rest.
constexpr Script scripts[] = {{"stack", "home", Drive::none, 300, 0.2, 0.3},
                              {"humanoid", "", Drive::shaken, 500, 1.0, 0.0},
                              {"quadruped", "home", Drive::trot, 500, 0.3, 0.05},
                              {"arm", "home", Drive::squeeze, 300, 0.3, 0.0},
                              {"plate_gripper", "grip", Drive::squeeze, 200, 0.02, 0.02}};
constexpr int hold = 25;  // steps that a push and shaken controls last

std::array<double, 2> control_range(const Model& model, int actuator) {
  const auto& range = model.description().actuators[static_cast<std::size_t>(actuator)].control_range;
  return range ? std::array{(*range)[0], (*range)[1]} : std::array{-1.0, 1.0};
}

}  // namespace

struct SceneProblems::Scene {
  Script script;
  Model model;
  StepWorkspace workspace;
  Step step;
  std::mt19937 random;
  VectorX centre;  // of the controls
  double frequency = 1.0;
  int episode = -1, taken = 0;

  Scene(const Script& chosen, FrictionLaw law, unsigned seed)
      : script(chosen),
        model(load(chosen.model)),
        workspace(model,
                  complete(model, {.contact = law == FrictionLaw::cone ? Contact::ncp : Contact::lcp})),
        random(seed),
        centre(VectorX::Zero(model.nu())) {}

  void begin() {
    ++episode;
    taken = 0;
    step.next = neutral_state(model);
    step.warm.entries.clear();
    for (const KeyframeDescription& key : model.description().keyframes) {
      if (key.name != script.keyframe) continue;
      if (!key.q.empty()) step.next.q = Eigen::Map<const VectorX>(key.q.data(), model.nq());
      if (!key.control.empty()) centre = Eigen::Map<const VectorX>(key.control.data(), model.nu());
    }
    step.next.v = uniform_vector(random, model.nv(), script.speed);
    step.input.controls = centre;
    step.input.forces = VectorX::Zero(model.nv());
    frequency = uniform(random, 1.0, 3.0);
  }

  // Diagonal legs together, the two pairs half a period apart: three motors to a leg, legs in the order
  // front right, front left, rear right, rear left.
  void trot(double time) {
    for (int i = 0; i < model.nu(); ++i) {
      const int leg = i / 3;
      const double phase = leg == 0 || leg == 3 ? 0.0 : std::numbers::pi;
      const double swing = std::sin(2.0 * std::numbers::pi * frequency * time + phase + 0.5 * (i % 3));
      step.input.controls[i] = centre[i] + 0.2 * control_range(model, i)[1] * swing;
    }
  }

  void drive() {
    if (script.drive == Drive::trot) trot(step.next.time);
    if (taken % hold != 0) return;
    if (script.push > 0.0) {
      const double weight = model.total_mass() * norm(model.gravity());
      step.input.forces = uniform_vector(random, model.nv(), script.push * weight / model.nv());
    }
    for (int i = 0; i < model.nu(); ++i) {
      const auto [low, high] = control_range(model, i);
      if (script.drive == Drive::shaken) step.input.controls[i] = uniform(random, low, high);
      // About the keyframe: fingers close harder and less hard, the arm wanders.
      if (script.drive == Drive::squeeze)
        step.input.controls[i] =
            std::clamp(centre[i] + 0.3 * uniform(random, -1.0, 1.0) * (high - low) / 2.0, low, high);
    }
  }

  void advance() {
    if (episode < 0 || taken == script.length) begin();
    drive();
    workspace.step(step.next, step.input, step);
    if (!step.ok())
      throw Error("{}, episode {}: step {} failed, {}", script.model, episode, taken,
                  to_string(step.status()));
    ++taken;
  }
};

SceneProblems::SceneProblems(FrictionLaw law, unsigned seed) : law_(law) {
  for (const Script& script : scripts) scenes_.push_back(std::make_unique<Scene>(script, law, seed++));
  turn_ = scenes_.size() - 1;
}

SceneProblems::~SceneProblems() = default;

void SceneProblems::next(OwnedProblem& problem) {
  while (scenes_[turn_]->episode < 0 || island_ >= scenes_[turn_]->workspace.contact->rows.islands().size()) {
    turn_ = (turn_ + 1) % scenes_.size();
    island_ = 0;
    scenes_[turn_]->advance();
  }
  const Scene& scene = *scenes_[turn_];
  const ContactRows& rows = scene.workspace.contact->rows;
  const ContactProblem view =
      rows.problem(rows.islands()[island_++], scene.workspace.dt() * norm(scene.model.gravity()));
  problem.law = law_;
  problem.blocks.assign(view.blocks.begin(), view.blocks.end());
  problem.G.resize(view.size, view.size);
  for (int i = 0; i < view.size; ++i) problem.G.col(i) = Eigen::Map<const VectorX>(view.row(i), view.size);
  problem.b = Eigen::Map<const VectorX>(view.b, view.size);
  problem.bias = Eigen::Map<const VectorX>(view.bias, view.size);
  problem.least_velocity = view.velocity_scale;
}

std::string SceneProblems::origin() const {
  const Scene& scene = *scenes_[turn_];
  return fmt::format("{}, episode {}, step {}, island {}", scene.script.model, scene.episode, scene.taken - 1,
                     island_ - 1);
}

std::vector<std::string> SceneProblems::names() {
  std::vector<std::string> result;
  for (const Script& script : scripts) result.emplace_back(script.model);
  return result;
}

}  // namespace articula::testing
