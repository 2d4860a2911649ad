#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "articula/dynamics/energy.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/npz.hpp"
#include "articula/simulation/simulation.hpp"
#include "cli/command.hpp"
#include "cli/controls.hpp"
#include "cli/load_arguments.hpp"
#include "cli/perturbations.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

struct SimulateOptions {
  std::string model, keyframe, solver = "ncp", csv, npz;
  int steps = 0;
  double seconds = 0.0, dt = 0.0;
  bool given_steps = false, given_seconds = false, given_dt = false;
  LoadArguments load;
  ControlOptions controls;
  std::vector<std::string> pushes, velocities;
  bool json = false;
};

// ------------------------------------------------------------------ what is asked for

Contact contact_law(const std::string& solver) {
  for (const Contact contact : {Contact::none, Contact::lcp, Contact::ncp})
    if (solver == to_string(contact)) return contact;
  throw articula::Error("--solver: ncp, lcp or none, not '{}'", solver);
}

int wanted_steps(const SimulateOptions& options, double dt, const Controls& controls) {
  int steps = options.given_steps ? options.steps : controls.steps();
  if (options.given_seconds || (!options.given_steps && controls.steps() < 0)) {
    const double seconds = options.given_seconds ? options.seconds : 5.0, wanted = seconds / dt;
    if (!(wanted >= 0.0 && wanted < 1e9))
      throw articula::Error("--seconds {} at dt {} is not a number of steps", seconds, dt);
    steps = static_cast<int>(std::ceil(wanted - 1e-9));
  }
  if (steps < 0) throw articula::Error("--steps must not be negative, as {} is", steps);
  if (controls.steps() >= 0 && steps > controls.steps())
    throw articula::Error("{} has controls for {} steps, but {} are wanted", options.controls.source,
                          controls.steps(), steps);
  return steps;
}

void require_two_files(const std::string& csv, const std::string& npz) {
  if (csv.empty() || npz.empty()) return;
  std::error_code unreachable;  // then it cannot be written either
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), unreachable);
  };
  const std::filesystem::path first = place(csv), second = place(npz);
  if (!first.empty() && first == second)
    throw articula::Error("--csv and --npz are one file, '{}': give them two names", npz);
}

// ------------------------------------------------------------------ what is kept

struct Summary {
  int steps = 0, contacts = 0, most_contacts = 0, islands = 0, guessed = 0;
  double step_seconds = 0.0, simulated = 0.0, deepest = 0.0, residual = 0.0;
  double start_energy = 0.0, end_energy = 0.0;
  bool overflow = false;
  std::map<std::string, int> contact_status;
  StepStatus status = StepStatus::ok;
  std::string failed_at;

  void add(const Step& step) {
    const auto touching = std::count_if(step.contacts.begin(), step.contacts.end(), [](const StepContact& c) {
      return c.mode != ContactMode::separating;
    });
    ++steps;
    contacts += static_cast<int>(touching);
    most_contacts = std::max(most_contacts, static_cast<int>(touching));
    islands += step.report.islands;
    guessed += step.report.guessed_islands;
    deepest = std::max(deepest, step.report.deepest);
    residual = std::max(residual, step.report.residual);
    overflow |= step.report.overflow;
    ++contact_status[std::string(to_string(step.report.contact))];
  }
};

// The trajectory, one line per state: time, q, v, and what the step from it met.
struct Recording {
  std::vector<double> time, q, v, u, contacts, penetration, residual, status;

  void add(const State& x, const VectorX& controls, const StepReport& report) {
    time.push_back(x.time);
    q.insert(q.end(), x.q.begin(), x.q.end());
    v.insert(v.end(), x.v.begin(), x.v.end());
    u.insert(u.end(), controls.begin(), controls.end());
    contacts.push_back(report.contacts);
    penetration.push_back(report.deepest);
    residual.push_back(report.residual);
    status.push_back(static_cast<double>(report.contact));
  }

  void write_csv(const std::string& path, const Model& model) const {
    std::ofstream file(path);
    file << "time";
    for (int i = 0; i < model.nq(); ++i) file << ",q" << i;
    for (int i = 0; i < model.nv(); ++i) file << ",v" << i;
    for (int i = 0; i < model.nu(); ++i) file << ",u" << i;
    file << ",contacts,penetration,residual,status\n";
    for (std::size_t i = 0; i < time.size(); ++i) {
      std::string line = fmt::format("{}", time[i]);
      const auto append = [&](const std::vector<double>& values, int width) {
        for (int k = 0; k < width; ++k)
          line +=
              fmt::format(",{}", values[i * static_cast<std::size_t>(width) + static_cast<std::size_t>(k)]);
      };
      append(q, model.nq());
      append(v, model.nv());
      append(u, model.nu());
      file << line
           << fmt::format(",{},{},{},{}\n", contacts[i], penetration[i], residual[i],
                          to_string(static_cast<SolveStatus>(status[i])));
    }
    file.close();
    if (!file) throw articula::Error("{}: cannot be written", path);
  }

  void save_npz(const std::string& path, const Model& model) const {
    const std::size_t n = time.size();
    const auto table = [n](const std::vector<double>& values, int width) {
      return NpyArray{{n, static_cast<std::size_t>(width)}, values};
    };
    write_npz(path, {{"time", {{n}, time}},
                     {"q", table(q, model.nq())},
                     {"v", table(v, model.nv())},
                     {"controls", table(u, model.nu())},
                     {"contacts", {{n}, contacts}},
                     {"penetration", {{n}, penetration}},
                     {"residual", {{n}, residual}},
                     {"status", {{n}, status}}});
  }
};

double total_energy(const Model& model, const State& state) {
  Data data(model);
  forward_kinematics(model, data, state.q);
  place_inertias(model, data);
  propagate_motion(model, data, state.v.data(), nullptr);
  return energy(model, data, state.q, state.v).total();
}

// ------------------------------------------------------------------ the run

Summary simulate(const Simulation& simulation, const SimulateOptions& options, Controls& controls,
                 const std::vector<Push>& pushes, const State& start, int steps, Recording* recording) {
  using Clock = std::chrono::steady_clock;
  const Model& model = simulation.model();
  Summary summary;
  summary.start_energy = total_energy(model, start);
  Step step;
  step.next = start;
  step.input.controls.setZero(model.nu());  // as recorded where there is no step
  Progress progress("simulating " + options.model, static_cast<std::size_t>(steps));
  for (int i = 0; i < steps; ++i) {
    step.input.controls = controls.at(i, step.next.time, simulation.dt());
    apply(pushes, step.next.time, simulation.dt(), model, step.input);
    const Clock::time_point before = Clock::now();
    simulation.step(step.next, step.input, step);
    summary.step_seconds += std::chrono::duration<double>(Clock::now() - before).count();
    summary.status = step.status();
    if (!step.ok()) {
      summary.failed_at = fmt::format("step {} (t = {:g} s)", i, step.start.time);
      break;
    }
    summary.add(step);
    if (recording != nullptr) recording->add(step.start, step.input.controls, step.report);
    progress.advance();
  }
  if (recording != nullptr && step.ok()) recording->add(step.next, step.input.controls, {});
  summary.simulated = step.next.time - start.time;
  summary.end_energy = total_energy(model, step.next);
  return summary;
}

void print_summary(const SimulateOptions& options, const Summary& s) {
  Report report;
  const auto add = [&](const char* name, double value, const char* unit) {
    report.add(options.json ? fmt::format("{}/{}/simulate/{}", options.model, options.solver, name) : name,
               value, unit);
  };
  const double steps = std::max(s.steps, 1);
  add("steps", s.steps, "count");
  add("simulated_time", s.simulated, "s");
  if (s.step_seconds > 0.0) add("real_time_factor", s.simulated / s.step_seconds, "1");
  add("step/us", s.step_seconds / steps * 1e6, "us");
  add("contacts/mean", s.contacts / steps, "count");
  add("contacts/max", s.most_contacts, "count");
  add("deepest_penetration", s.deepest, "m");
  add("largest_residual", s.residual, "1");
  if (s.islands > 0) add("guess_hit_rate", static_cast<double>(s.guessed) / s.islands, "1");
  for (const SolveStatus status :
       {SolveStatus::solved, SolveStatus::multiple, SolveStatus::infeasible_bias, SolveStatus::inexact}) {
    const auto found = s.contact_status.find(std::string(to_string(status)));
    add(fmt::format("status/{}", to_string(status)).c_str(),
        found == s.contact_status.end() ? 0 : found->second, "steps");
  }
  add("energy/start", s.start_energy, "J");
  add("energy/end", s.end_energy, "J");
  if (s.overflow) report.note("more contacts than there was room for: some were left out");
  print(report, options.json);
}

void require_finite(const char* option, double value, double least) {
  if (!std::isfinite(value) || value < least)
    throw articula::Error("{} must be finite and at least {}, not {}", option, least, value);
}

void run(const SimulateOptions& options) {
  require_finite("--amplitude", options.controls.amplitude, 0.0);
  require_finite("--frequency", options.controls.frequency, 0.0);
  require_finite("--hold", options.controls.hold, 0.0);
  require_two_files(options.csv, options.npz);
  const Model model = load(options.model, options.load.options());
  SimulationSettings settings;
  settings.contact = contact_law(options.solver);
  if (options.given_dt) settings.dt = options.dt;
  const Simulation simulation(model, settings);
  const Start start = starting_point(model, options.keyframe, options.velocities);
  Controls controls(model, options.controls, start.controls);
  const int steps = wanted_steps(options, simulation.dt(), controls);
  const double from = start.state.time, to = from + steps * simulation.dt();
  const std::vector<Push> pushes = parse_pushes(model, options.pushes, from, to);
  Recording recording;
  const bool record = !options.csv.empty() || !options.npz.empty();
  const Summary summary =
      simulate(simulation, options, controls, pushes, start.state, steps, record ? &recording : nullptr);
  if (!options.csv.empty()) recording.write_csv(options.csv, model);
  if (!options.npz.empty()) recording.save_npz(options.npz, model);
  print_summary(options, summary);
  if (summary.status != StepStatus::ok)
    throw Failure(fmt::format("{} failed: {}", summary.failed_at, to_string(summary.status)));
}

}  // namespace

void add_simulate(CLI::App& app) {
  const CLI::Validator named(
      [](const std::string& text) { return std::string(text.empty() ? "a name is needed" : ""); }, "");
  CLI::App* command = app.add_subcommand("simulate", "Step a model, and sum up what happened");
  const auto options = std::make_shared<SimulateOptions>();
  command->add_option("model", options->model, "A file, or a built-in model's name")->required();
  add_load_arguments(*command, options->load);
  CLI::Option* steps = command->add_option("--steps", options->steps, "How many steps");
  CLI::Option* seconds = command->add_option("--seconds", options->seconds, "How long, in s (default 5)");
  steps->excludes(seconds);
  CLI::Option* dt = command->add_option("--dt", options->dt, "Time step in s (default: the model's)");
  command->add_option("--solver", options->solver,
                      "ncp: friction cones; lcp: pyramids; none: neither contacts nor limits");
  command->add_option("--keyframe", options->keyframe, "Start from this keyframe, with its controls")
      ->check(named);
  command->add_option(
      "--controls", options->controls.source,
      "zero, keyframe, random, sine, or a file: CSV with one line per step, NPZ with an array "
      "'controls' (steps, nu)");
  command->add_option("--amplitude", options->controls.amplitude,
                      "Of random and sine controls, in half ranges of the actuators (default 1)");
  command->add_option("--frequency", options->controls.frequency, "Of sine controls, in Hz (default 1)");
  command->add_option("--hold", options->controls.hold,
                      "How long a random control lasts, in s (default 0.05)");
  command->add_option("--seed", options->controls.seed, "Of random controls (default 1)");
  command->add_option("--velocity", options->velocities,
                      "Initial velocity JOINT=V, or JOINT=V1,V2,... for joints with several; repeatable");
  command->add_option("--push", options->pushes,
                      "BODY:FX,FY,FZ@TIME+DURATION: a force in N at its centre of mass; repeatable");
  command->add_option("--csv", options->csv, "Write the trajectory as CSV")->check(named);
  command->add_option("--npz", options->npz, "Write the trajectory for NumPy")->check(named);
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->callback([options, steps, seconds, dt] {
    options->given_steps = steps->count() > 0;
    options->given_seconds = seconds->count() > 0;
    options->given_dt = dt->count() > 0;
    run(*options);
  });
}

}  // namespace articula::cli
