#include "articula/simulation/simulation.hpp"

#include <atomic>
#include <cmath>

#include "articula/error.hpp"
#include "contact_list.hpp"
#include "differentiator.hpp"

namespace articula {

std::string_view to_string(Contact contact) {
  switch (contact) {
    case Contact::none: return "none";
    case Contact::lcp: return "lcp";
    case Contact::ncp: return "ncp";
  }
  return "unknown";
}

SimulationSettings complete(const Model& model, SimulationSettings settings) {
  if (!settings.dt) settings.dt = model.timestep();
  const auto require = [](bool good, const char* what, double value) {
    if (!good) throw Error("{}, not {}", what, value);
  };
  require(*settings.dt > 0.0 && std::isfinite(*settings.dt), "dt must be positive and finite", *settings.dt);
  require(settings.recovery_speed >= 0.0 && std::isfinite(settings.recovery_speed),
          "recovery_speed must be finite and not negative", settings.recovery_speed);
  if (settings.bounce_speed)
    require(*settings.bounce_speed >= 0.0 && std::isfinite(*settings.bounce_speed),
            "bounce_speed must be finite and not negative", *settings.bounce_speed);
  require(settings.most_contacts >= 0, "most_contacts must not be negative", settings.most_contacts);
  return settings;
}

// ------------------------------------------------------------------ workspaces

namespace {

std::uint64_t first_serial() {
  static std::atomic<std::uint64_t> workspaces = 0;
  return ++workspaces << 40;
}

}  // namespace

StepWorkspace::StepWorkspace(const Model& model, const SimulationSettings& settings)
    : data(model),
      model_(&model),
      settings_(complete(model, settings)),
      last_step_(first_serial()) {
  if (settings.contact == Contact::none)
    free.emplace(model);
  else
    contact.emplace(model, settings.most_contacts);
}

StepWorkspace::~StepWorkspace() = default;

StepDifferentiator& StepWorkspace::differentiator() {
  if (!differentiator_) differentiator_ = std::make_unique<StepDifferentiator>(*model_, settings_);
  return *differentiator_;
}

void StepWorkspace::use(const Model& model) {
  if (model_ == &model) return;
  if (&model_->structure() != &model.structure())
    throw Error("a workspace serves one model and its variants (model.with), not another model");
  model_ = &model;
  if (contact) contact->set_numbers(model);
}

ImpulseSettings impulse_settings(const SimulationSettings& settings) {
  ImpulseSettings result;
  result.dt = *settings.dt;
  result.law = settings.contact == Contact::lcp ? FrictionLaw::pyramid : FrictionLaw::cone;
  result.recovery_speed = settings.recovery_speed;
  result.bounce_speed = settings.bounce_speed.value_or(-1.0);
  result.implicit_gyroscopic = settings.implicit_gyroscopic;
  return result;
}

void StepWorkspace::step(const State& x, const Input& input, Step& result, const FrozenModes* held) {
  result.start = x;
  if (&result.input != &input) result.input = input;
  result.next = result.start;
  result.serial = ++last_step_;
  result.contacts.clear();
  result.loops.clear();
  if (!contact) {
    result.report = {};
    result.warm.entries.clear();
    const StepSettings settings{*settings_.dt, settings_.implicit_gyroscopic};
    result.report.status = contact_free_step(*model_, data, *free, settings, result.input, result.next);
    return;
  }
  result.guess.entries.reserve(contact->rows.most_blocks());
  result.guess = result.warm;
  result.warm.entries.reserve(contact->rows.most_blocks());
  result.loops.reserve(contact->constraints.equalities.size());
  ImpulseSettings settings = impulse_settings(settings_);
  settings.frozen = held;
  result.report = impulse_step(*model_, data, *contact, settings, result.input, result.next, result.warm);
  if (!result.ok()) return;
  list_contacts(*model_, *contact, dt(), result.contacts);
  list_loops(data, *contact, result.loops);
}

void StepWorkspace::step_again(const State& x, const Input& input, const WarmStart& found,
                               const WarmStart& guess, const State& end, Step& result) {
  result.warm = found;
  step(x, input, result);
  if (!contact || (result.next.q == end.q && result.next.v == end.v)) return;
  result.warm = guess;
  step(x, input, result);
}

namespace {

// To the bit where one program took both; what another machine rounded otherwise is the same step.
bool ends_alike(const State& a, const State& b) {
  constexpr double rounding = 1e-6;
  const auto alike = [](const VectorX& one, const VectorX& other) {
    return (one - other).lpNorm<Eigen::Infinity>() <= rounding * (1.0 + one.lpNorm<Eigen::Infinity>());
  };
  return alike(a.q, b.q) && alike(a.v, b.v);
}

}  // namespace

void StepWorkspace::recall(const Step& step, Step& again) {
  if (last_step_ == step.serial) return;
  step_again(step.start, step.input, step.warm, step.guess, step.next, again);
  if (step.ok() && !ends_alike(step.next, again.next))
    throw Error(
        "this step was not taken by this simulation: taken here it ends elsewhere (another model, other "
        "parameters or settings?)");
}

// ------------------------------------------------------------------ simulations

Simulation::Simulation(Model model, const SimulationSettings& settings)
    : model_(std::move(model)),
      settings_(complete(model_, settings)) {
  idle_.push_back(std::make_unique<StepWorkspace>(model_, settings_));
}

Simulation::Simulation(const Simulation& other) : Simulation(other.model_, other.settings_) {}

Simulation::Lease::Lease(const Simulation& simulation, std::uint64_t step) : simulation_(simulation) {
  {
    const std::lock_guard lock(simulation.mutex_);
    auto& idle = simulation.idle_;
    for (size_t i = 0; i + 1 < idle.size(); ++i) {
      if (idle[i]->last_step() == step) std::swap(idle[i], idle.back());
    }
    if (!idle.empty()) {
      workspace_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (!workspace_) workspace_ = std::make_unique<StepWorkspace>(simulation.model_, simulation.settings_);
}

Simulation::Lease::~Lease() {
  const std::lock_guard lock(simulation_.mutex_);
  simulation_.idle_.push_back(std::move(workspace_));
}

void Simulation::step(const State& x, const Input& input, Step& result) const {
  const Lease workspace(*this);
  workspace->step(x, input, result);
}

Step Simulation::step(const State& x, const Input& input, const WarmStart& warm) const {
  Step result;
  result.warm = warm;
  step(x, input, result);
  return result;
}

Step Simulation::step(const State& x, const ConstVectorRef& controls, const WarmStart& warm) const {
  Step result;
  result.warm = warm;
  result.input.controls = controls;
  step(x, result.input, result);
  return result;
}

// ------------------------------------------------------------------ derivatives

namespace {

void require_taken(const Step& step) {
  if (!step.ok()) throw Error("a step that failed ({}) has no derivatives", to_string(step.status()));
}

}  // namespace

void Simulation::jacobians(const Step& step, const GradientSettings& settings, StepJacobians& result) const {
  require_taken(step);
  const Lease workspace(*this, step.serial);
  StepDifferentiator& differentiator = workspace->differentiator();
  workspace->recall(step, differentiator.again);
  differentiator.jacobians(*workspace, step.start, step.input, settings, result);
}

void Simulation::pullback(const Step& step, const StepCovector& covector, const GradientSettings& settings,
                          StepGradient& result) const {
  require_taken(step);
  const Lease workspace(*this, step.serial);
  StepDifferentiator& differentiator = workspace->differentiator();
  workspace->recall(step, differentiator.again);
  differentiator.pullback(*workspace, step.start, step.input, covector, settings, result);
}

StepJacobians Simulation::jacobians(const Step& step, const GradientSettings& settings) const {
  StepJacobians result;
  jacobians(step, settings, result);
  return result;
}

StepGradient Simulation::pullback(const Step& step, const StepCovector& covector,
                                  const GradientSettings& settings) const {
  StepGradient result;
  pullback(step, covector, settings, result);
  return result;
}

}  // namespace articula
