#pragma once
// A model, a time step and a contact law: what users step.
//
//   Simulation sim(load("quadruped"), {.dt = 0.002});
//   Step s = sim.step(x, u);            // s.next, s.contacts, s.report, s.warm
//   s = sim.step(s.next, u, s.warm);    // a warm start: faster
//
// A step depends on its arguments alone. Simulations are immutable: threads may share one.

#include <memory>
#include <mutex>
#include <optional>

#include "articula/simulation/gradient.hpp"
#include "articula/simulation/step.hpp"

namespace articula {

enum class Contact : std::uint8_t {
  none,  // no contacts, and neither limits, nor loops, nor dry friction
  lcp,   // friction pyramids
  ncp    // friction cones
};
std::string_view to_string(Contact contact);

struct SimulationSettings {
  std::optional<double> dt = {};            // s; default: the model's own time step
  Contact contact = Contact::ncp;           // the friction law
  double recovery_speed = 0.2;              // m/s, rad/s: overlaps and loop errors vanish no faster
  std::optional<double> bounce_speed = {};  // m/s: slower impacts do not bounce; default: 2 dt g
  bool implicit_gyroscopic =
      true;               // keeps fast spinning bodies from gaining energy (dynamics/gyroscopic.hpp)
  int most_contacts = 0;  // room for this many; more set report.overflow. 0: what the model can need
};

class StepDifferentiator;

// Workspace of one thread, for a model and its variants (model.with).
class StepWorkspace {
 public:
  StepWorkspace(const Model& model, const SimulationSettings& settings);
  ~StepWorkspace();

  // Prepares for a variant: microseconds. `model` must outlive its use.
  void use(const Model& model);
  // result.warm is the guess, and then the warm start of the next step. x and input may be members of result.
  // With `held`, its modes are kept whatever the laws say.
  void step(const State& x, const Input& input, Step& result, const FrozenModes* held = nullptr);
  // A step that led from x to `end`, once more. From the modes that it found the first guess is right; where
  // the laws allow several motions these may lead to another one, and it is taken from the guess that it had.
  void step_again(const State& x, const Input& input, const WarmStart& found, const WarmStart& guess,
                  const State& end, Step& result);
  // Unless it was the last one: `again` is room for it.
  void recall(const Step& step, Step& again);
  // `data` no longer has what the last step left there: its derivatives are made from a step taken again.
  void forget() { ++last_step_; }

  const Model& model() const { return *model_; }
  const SimulationSettings& settings() const { return settings_; }
  double dt() const { return *settings_.dt; }
  std::uint64_t last_step() const { return last_step_; }  // its serial
  Data data;
  std::optional<ImpulseWork> contact;   // unless Contact::none
  std::optional<ContactFreeWork> free;  // if Contact::none

  FreeMotionWork& motion() { return contact ? contact->free : free->free; }
  // Made when first asked for.
  StepDifferentiator& differentiator();

 private:
  const Model* model_;
  SimulationSettings settings_;
  std::uint64_t last_step_;  // high bits: which workspace
  std::unique_ptr<StepDifferentiator> differentiator_;
};

class Simulation {
 public:
  // Throws Error for settings that make no sense.
  explicit Simulation(Model model, const SimulationSettings& settings = {});
  Simulation(const Simulation& other);
  Simulation& operator=(const Simulation&) = delete;

  const Model& model() const { return model_; }
  const SimulationSettings& settings() const { return settings_; }
  double dt() const { return *settings_.dt; }

  // Throws Error for wrong sizes; anything that goes wrong in the step itself is in report.status, and next
  // is then the state it started from.
  Step step(const State& x, const Input& input = {}, const WarmStart& warm = {}) const;
  Step step(const State& x, const ConstVectorRef& controls, const WarmStart& warm = {}) const;
  // The same in place: after the first calls nothing is allocated. result.warm is the guess, and then the
  // warm start of the next step; x and input may be members of result.
  void step(const State& x, const Input& input, Step& result) const;

  // Derivatives of a step that this simulation took, from the factors it kept; a step that has been followed
  // by others is taken once more. Throws Error for a step that failed.
  StepJacobians jacobians(const Step& step, const GradientSettings& settings = {}) const;
  StepGradient pullback(const Step& step, const StepCovector& covector,
                        const GradientSettings& settings = {}) const;
  // The same in place.
  void jacobians(const Step& step, const GradientSettings& settings, StepJacobians& result) const;
  void pullback(const Step& step, const StepCovector& covector, const GradientSettings& settings,
                StepGradient& result) const;

  // A workspace for as long as the lease lives; each is used by one thread at a time. If there is one that
  // has just taken the step with this serial, it is that.
  class Lease {
   public:
    explicit Lease(const Simulation& simulation, std::uint64_t step = 0);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    StepWorkspace& operator*() const { return *workspace_; }
    StepWorkspace* operator->() const { return workspace_.get(); }

   private:
    const Simulation& simulation_;
    std::unique_ptr<StepWorkspace> workspace_;
  };

 private:
  Model model_;
  SimulationSettings settings_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<StepWorkspace>> idle_;
};

// What a step of a simulation is taken with; settings must be complete.
ImpulseSettings impulse_settings(const SimulationSettings& settings);

// Fills in what follows from the model, and throws Error for what makes no sense.
SimulationSettings complete(const Model& model, SimulationSettings settings);

// The force (3) and torque (3) that the inner side of each joint exerts on the outer side, in world axes,
// about the joint's anchor (6 x njoint): inertia less weight, contacts, loops, thrust, drag and outer
// wrenches of everything behind it. Along the joint's own axes this is what motors, springs, limits and
// friction do there. Joints of one body share one wrench.
Matrix6X joint_reactions(const Simulation& simulation, const Step& step);

}  // namespace articula
