#include "bench/gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "articula/dynamics/forward_derivatives.hpp"
#include "articula/error.hpp"
#include "articula/io/paths.hpp"
#include "articula/simulation/rollout_gradient.hpp"
#include "bench/support/transition_rival.hpp"

namespace articula::bench {
namespace {

// How expensive a derivative is differs from state to state (loads that could be shared otherwise), and so
// does a step: it takes many states to know the mean. Differences are as expensive everywhere.
std::vector<Sample> samples_of(const Simulation& simulation, const Case& c, bool full) {
  const int count = full ? 500 : 200;
  std::vector<Sample> samples;
  const int every = static_cast<int>(c.controls.cols()) / count;
  Step step;
  step.next = c.start;
  for (int i = 0; i < every * count; ++i) {
    step.input.controls = c.controls.col(i);
    if (i % every == every - 1) samples.push_back({step.next, step.input, step.warm});
    simulation.step(step.next, step.input, step);
    if (!step.ok()) break;
  }
  return samples;
}

std::vector<Sample> some_of(const std::vector<Sample>& samples, bool full) {
  std::vector<Sample> some;
  for (size_t k = 0; k < samples.size(); k += full ? 10 : 20) some.push_back(samples[k]);
  return some;
}

// Least mean over the samples, in us; every one gets its own time. Samples take turns, as they do along a
// trajectory: what is done twice in the same state costs less the second time, steps more so than
// derivatives.
struct Stopwatch {
  std::vector<double> least;

  void add(size_t sample, double seconds) {
    if (least.size() <= sample) least.resize(sample + 1, 1e300);
    least[sample] = std::min(least[sample], seconds);
  }
  double us() const {
    double sum = 0.0;
    for (double x : least) sum += x;
    return 1e6 * sum / static_cast<double>(least.size());
  }
};

struct Times {
  Stopwatch step, jacobians, adjoint, adjoint_all;
  double contacts = 0.0;
};

GradientSettings settings_of(Blocks blocks) {
  if (blocks == Blocks::step) return {};
  GradientSettings settings{.controls = false, .forces = true};
  if (blocks == Blocks::velocity_by_forces) {
    settings.velocities_alone = true;
    settings.certificate = false;  // papers' engines have none
  }
  return settings;
}

Times time_samples(const Simulation& simulation, const std::vector<Sample>& samples,
                   const GradientSettings& wanted, int repeats) {
  const Model& model = simulation.model();
  Times times;
  Step step;
  StepJacobians jacobians;
  StepGradient gradient;
  const StepCovector covector{VectorX::Ones(model.nv()), VectorX::Ones(model.nv()), {}};
  GradientSettings plain, all;
  all.parameters = model.parameters().slices();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t k = 0; k < samples.size(); ++k) {
      const Sample& s = samples[k];
      step.warm = s.warm;
      times.step.add(k, processor_seconds([&] { simulation.step(s.state, s.input, step); }));
      if (repeat == 0)
        times.contacts += static_cast<double>(step.contacts.size()) / static_cast<double>(samples.size());
      times.jacobians.add(k, processor_seconds([&] { simulation.jacobians(step, wanted, jacobians); }));
      times.adjoint.add(k, processor_seconds([&] { simulation.pullback(step, covector, plain, gradient); }));
      times.adjoint_all.add(k,
                            processor_seconds([&] { simulation.pullback(step, covector, all, gradient); }));
    }
  }
  return times;
}

int inputs_of(const Model& model, Blocks blocks) {
  return 2 * model.nv() + model.na() + (blocks == Blocks::step ? model.nu() : model.nv());
}

// The same Jacobians by differences of warm steps: two for each input, and ten times as many for Ridders'
// tables.
double central_us(const Simulation& simulation, const Sample& s, Blocks blocks) {
  const Model& model = simulation.model();
  Step step;
  State x = s.state;
  Input input = s.input;
  if (blocks != Blocks::step) input.forces.setZero(model.nv());
  VectorX& acting = blocks == Blocks::step ? input.controls : input.forces;
  const double seconds = processor_seconds([&] {
    const auto evaluate = [&] {
      step.warm = s.warm;
      simulation.step(x, input, step);
    };
    for (int i = 0; i < inputs_of(model, blocks); ++i) {
      double& number = i < model.nv()                    ? x.q[std::min(i, model.nq() - 1)]
                       : i < 2 * model.nv()              ? x.v[i - model.nv()]
                       : i < 2 * model.nv() + model.na() ? x.activation[i - 2 * model.nv()]
                                                         : acting[i - 2 * model.nv() - model.na()];
      const double kept = number;
      number = kept + 1e-6;
      evaluate();
      number = kept - 1e-6;
      evaluate();
      number = kept;
    }
  });
  return 1e6 * seconds;
}

double rollout_ratio(const Simulation& simulation, const Case& c) {
  const auto loss = [&](int i, const State& state, const ConstVectorRef&, LossCovector& covector) {
    if (i < c.controls.cols()) return 0.0;
    covector.v = state.v;
    return 0.5 * state.v.squaredNorm();
  };
  double forward = 1e300, both = 1e300;
  for (int i = 0; i < 3; ++i) {
    forward = std::min(forward, processor_seconds([&] { rollout(simulation, c.start, c.controls); }));
    both =
        std::min(both, processor_seconds([&] { rollout_gradient(simulation, c.start, c.controls, loss); }));
  }
  return both / forward;
}

// Jacobians alone, where another engine went: steps are taken without a guess.
struct JacobianTimes {
  double us = 0.0, contacts = 0.0;
};

JacobianTimes time_jacobians(const Simulation& simulation, const std::vector<Sample>& samples, int repeats) {
  constexpr int inner = 10;
  Stopwatch watch;
  Step step;
  StepJacobians jacobians;
  double contacts = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t k = 0; k < samples.size(); ++k) {
      step.warm = samples[k].warm;
      simulation.step(samples[k].state, samples[k].input, step);
      contacts += static_cast<double>(
          std::count_if(step.contacts.begin(), step.contacts.end(),
                        [](const StepContact& c) { return c.mode != ContactMode::separating; }));
      watch.add(k, processor_seconds([&] {
                     for (int i = 0; i < inner; ++i) simulation.jacobians(step, {}, jacobians);
                   }) / inner);
    }
  }
  return {watch.us(), contacts / static_cast<double>(samples.size()) / repeats};
}

RobotTimes times_of(const Simulation& simulation, const std::vector<Sample>& samples, Blocks blocks,
                    bool full) {
  const Times times = time_samples(simulation, samples, settings_of(blocks), full ? 12 : 6);
  // Differences are of fewer states, spread over all: some are several times as expensive as others.
  constexpr std::size_t every = 5;
  double central = 0.0, states = 0.0;
  for (std::size_t k = 0; k < samples.size(); k += every, states += 1.0) {
    double least = 1e300;
    for (int repeat = 0; repeat < 2; ++repeat)
      least = std::min(least, central_us(simulation, samples[k], blocks));
    central += least;
  }
  central /= states;
  return {.step = times.step.us(),
          .jacobians = times.jacobians.us(),
          .adjoint = times.adjoint.us(),
          .adjoint_all_parameters = times.adjoint_all.us(),
          .central = central,
          .ridders = 10.0 * central,
          .contacts = times.contacts,
          .dofs = simulation.model().nv(),
          .inputs = inputs_of(simulation.model(), blocks)};
}

// In the states of MuJoCo's trajectory.
void compare(const std::string& name, const Simulation& simulation, TransitionRival& rival,
             const std::vector<Sample>& ours, bool full, GradientFigures& out) {
  rival.use(simulation.settings().contact == Contact::ncp);
  const std::vector<Sample> samples = rival.samples(ours);
  if (samples.empty()) {
    out.notes.push_back(name + ": MuJoCo diverged");
    return;
  }
  const JacobianTimes times = time_jacobians(simulation, samples, full ? 30 : 6);
  const double theirs = rival.us(samples, 3);
  out.figures.push_back({name + "jacobians/speedup_mujoco_fd", theirs / times.us, "1"});
  out.notes.push_back(
      fmt::format("{}jacobians: in the states of MuJoCo's trajectory {:.1f} contacts touch, MuJoCo has "
                  "{:.1f}; {:.1f} us, "
                  "MuJoCo {:.1f}; in ours MuJoCo has {:.1f} contacts",
                  name, times.contacts, rival.contacts(samples), times.us, theirs, rival.contacts(ours)));
}

// Jacobians of the step without contacts, beside those of forward dynamics in the same state.
void measure_contact_free(const std::string& robot, const Case& c, bool full, GradientFigures& out) {
  const int repeats = full ? 200 : 40, inner = 20;
  const Simulation simulation(c.model, {.contact = Contact::none});
  Step step;
  StepJacobians jacobians;
  step.input.controls = c.controls.col(0);
  simulation.step(c.start, step.input, step);
  Data data(c.model);
  ForwardDerivativeWork work(c.model);
  const VectorX tau = VectorX::Zero(c.model.nv());
  double ours = 1e300, dynamics = 1e300;
  bool regular = true;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    ours = std::min(ours, processor_seconds([&] {
                      for (int i = 0; i < inner; ++i) simulation.jacobians(step, {}, jacobians);
                    }));
    dynamics = std::min(dynamics, processor_seconds([&] {
                          for (int i = 0; i < inner; ++i)
                            regular &=
                                forward_dynamics_derivatives(c.model, data, work, c.start.q, c.start.v, tau);
                        }));
  }
  if (!regular) throw Error("the mass matrix of {} is singular", robot);
  const std::string name = robot + "/contact_free/jacobians/";
  out.figures.push_back({name + "us", 1e6 * ours / inner, "us"});
  out.figures.push_back({name + "ratio_forward_dynamics_derivatives", ours / dynamics, "1"});
}

void measure(const std::string& robot, const std::string& path, const Case& c, const PeerApi* api, bool full,
             GradientFigures& out) {
  std::optional<TransitionRival> rival;
  try {
    if (api != nullptr) rival.emplace(*api, path, c);
  } catch (const std::exception& error) {
    out.notes.push_back(fmt::format("{}: {}", robot, error.what()));
  }
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const std::string name = fmt::format("{}/{}/", robot, to_string(law));
    const Simulation simulation(c.model, {.contact = law});
    const std::vector<Sample> samples = samples_of(simulation, c, full);
    const RobotTimes times = times_of(simulation, samples, Blocks::step, full);
    const auto add = [&](const std::string& figure, double value, const char* unit) {
      out.figures.push_back({name + figure, value, unit});
    };
    add("jacobians/us", times.jacobians, "us");
    add("jacobians/ratio_step", times.jacobians / times.step, "1");
    add("jacobians/speedup_central", times.central / times.jacobians, "1");
    add("jacobians/speedup_ridders", times.ridders / times.jacobians, "1");
    if (rival) compare(name, simulation, *rival, some_of(samples, full), full, out);
    add("adjoint/us", times.adjoint, "us");
    add("adjoint/ratio_step", times.adjoint / times.step, "1");
    add("adjoint_all_parameters/ratio_step", times.adjoint_all_parameters / times.step, "1");
    add("step/us", times.step, "us");
    add("rollout_adjoint/ratio_forward", rollout_ratio(simulation, c), "1");
  }
}

// Where a scene's model is.
std::string path_of(const Scene& scene) {
  if (*scene.file == '\0') return (models_directory() / (scene.name + ".xml")).string();
  const auto shared = shared_models_directory();
  if (!shared) throw Error("{}: the shared models are not there; set ARTICULA_SHARED_MODELS", scene.name);
  return (*shared / scene.file).string();
}

}  // namespace

GradientFigures measure_gradients(bool full) {
  GradientFigures out;
  std::string reason;
  const PeerApi* api = peers::load_peer("mujoco", reason);
  out.notes.push_back(api == nullptr
                          ? "no comparison with MuJoCo: " + reason
                          : fmt::format("MuJoCo {}: mjd_transitionFD, centred, eps 1e-6", api->version));
  out.notes.push_back("central differences take warm steps; Ridders' tables are ten times as many");
  const auto shared = shared_models_directory();
  std::vector<Scene> scenes;
  for (const Scene& scene : own_scenes(false, shared.has_value())) {
    const bool first = scene.name == "quadruped" || scene.name == "biped" || scene.name == "half_cheetah" ||
                       scene.name == "humanoid";
    if (full || first) scenes.push_back(scene);
  }
  if (shared) {
    scenes.insert(scenes.begin(), atlas_scene());
    scenes.insert(scenes.begin(), shared_scenes().begin(), shared_scenes().end());
  } else {
    out.notes.push_back("no shared models: ur5e, go1, h1, talos, atlas have no rows");
  }
  for (const Scene& scene : scenes) {
    try {
      const std::string path = path_of(scene);
      const Case c = prepare(scene, path, 1000);
      measure(scene.name, path, c, api, full, out);
      measure_contact_free(scene.name, c, full, out);
    } catch (const std::exception& error) {
      out.notes.push_back(fmt::format("{}: {}", scene.name, error.what()));
    }
  }
  return out;
}

RobotTimes time_robot(const std::string& name, bool pyramid, Blocks blocks, bool full) {
  Scene scene{name, "", "home", 0.3};
  for (const Scene& shared : shared_scenes()) {
    if (shared.name == name) scene = shared;
  }
  if (name == "atlas") scene = atlas_scene();
  const Case c = prepare(scene, path_of(scene), 1000);
  const Simulation simulation(c.model, {.contact = pyramid ? Contact::lcp : Contact::ncp});
  return times_of(simulation, samples_of(simulation, c, full), blocks, full);
}

}  // namespace articula::bench
