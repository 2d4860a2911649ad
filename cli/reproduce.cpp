// articula reproduce: what papers and closed forms say, and what we get, side by side.

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

#include "articula/io/load.hpp"
#include "articula/simulation/rollout_gradient.hpp"
#include "cli/command.hpp"
#include "cli/gradient_suite.hpp"
#include "cli/paper_timings.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

bool suite(Report& report) {
  bool good = true;
  for (const SuiteCase& c : gradient_suite()) {
    report.add("gradients/suite/" + c.name + "/found", c.found, "1");
    report.add("gradients/suite/" + c.name + "/expected", c.expected, "1");
    report.add("gradients/suite/" + c.name + "/relative_error", c.error(), "1");
    report.note(fmt::format("{}: {}", c.name, c.why));
    good = good && c.error() < 1e-6;
  }
  return good;
}

// Nimble, VII-C: a drone on the ground is to be at a height after 500 steps. Thrust below its weight moves
// nothing: the exact gradient is zero. Gradient descent with steps of a fixed length, halved where the loss
// rises.
bool drone(Report& report) {
  const Model model = load("drone");
  const Simulation simulation(model);
  constexpr int steps = 500;
  constexpr double height = 1.0;
  State start = neutral_state(model);
  VectorX hover;  // thrust that carries it and does not tip it over: its battery sits off the middle
  for (const KeyframeDescription& key : model.description().keyframes) {
    if (key.name == "home") start.q = Eigen::Map<const VectorX>(key.q.data(), model.nq());
    if (key.name == "hover") hover = Eigen::Map<const VectorX>(key.control.data(), model.nu());
  }
  const auto loss = [&](int i, const State& state, const ConstVectorRef&, LossCovector& covector) {
    if (i < steps) return 0.0;
    covector.q[2] = 2.0 * (state.q[2] - height);
    return (state.q[2] - height) * (state.q[2] - height);
  };
  MatrixX controls = (0.75 * hover).replicate(1, steps);
  const auto gradient = [&](GradientMode mode) {
    return rollout_gradient(simulation, start, controls, loss, {.gradient = {.mode = mode}});
  };
  const double plain = gradient(GradientMode::exact).controls.norm();
  report.add("nimble/drone/exact/gradient_norm", plain, "1");
  RolloutGradient now = gradient(GradientMode::complementarity_aware);
  report.add("nimble/drone/complementarity_aware/gradient_norm", now.controls.norm(), "1");
  report.add("nimble/drone/loss_at_start", now.loss, "m^2");
  // One number for all rotors and steps: the direction in which a drone without a pilot stays upright.
  double length = 0.05;
  int iterations = 0;
  for (; iterations < 100 && now.loss > 1e-4; ++iterations) {
    const MatrixX before = controls;
    const double slope = (hover.transpose() * now.controls).sum();
    if (slope == 0.0) break;
    controls.colwise() -= (slope > 0.0 ? length : -length) * hover;
    RolloutGradient next = gradient(GradientMode::complementarity_aware);
    if (next.loss > now.loss) {
      length *= 0.5;
      controls = before;
    } else {
      now = std::move(next);
    }
  }
  report.add("nimble/drone/complementarity_aware/loss_at_end", now.loss, "m^2");
  report.add("nimble/drone/complementarity_aware/iterations", iterations, "count");
  report.note(
      "Nimble: exact gradients make no progress, complementarity-aware ones escape and reach the height");
  return plain < 1e-6 && now.loss < 1e-3;
}

using Experiment = bool (*)(Report&, bool full);

struct Named {
  const char* name;
  Experiment run;
};

constexpr Named experiments[] = {{"gradients/suite", [](Report& report, bool) { return suite(report); }},
                                 {"nimble/drone", [](Report& report, bool) { return drone(report); }},
                                 {"nimble/jacobians",
                                  [](Report& report, bool full) {
                                    nimble_jacobians(report, full);
                                    return true;
                                  }},
                                 {"simple/timings", [](Report& report, bool full) {
                                    simple_timings(report, full);
                                    return true;
                                  }}};

struct ReproduceOptions {
  std::string what;
  bool json = false, full = false;
};

void reproduce(const ReproduceOptions& options) {
  Report report;
  bool good = false;
  for (const Named& each : experiments) {
    if (each.name == options.what) good = each.run(report, options.full);
  }
  print(report, options.json);
  if (!good) throw Failure(fmt::format("{} is not reproduced", options.what));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  CLI::App* command = app.add_subcommand("reproduce", "What papers and closed forms say, and what we get");
  const auto options = std::make_shared<ReproduceOptions>();
  std::vector<std::string> names;
  for (const Named& each : experiments) names.emplace_back(each.name);
  command->add_option("what", options->what, "An experiment")->required()->check(CLI::IsMember(names));
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->add_flag("--full", options->full, "More states and repeats of what is timed");
  command->callback([options] { reproduce(*options); });
}

}  // namespace articula::cli
