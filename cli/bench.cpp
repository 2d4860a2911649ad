#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

#include "bench/collision.hpp"
#include "bench/dynamics.hpp"
#include "bench/gradients.hpp"
#include "bench/load.hpp"
#include "bench/solvers.hpp"
#include "bench/steps.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

struct BenchOptions {
  bool json = false, full = false;
};

// What a benchmark returns: figures with name, value and unit, and notes.
template <class Measured>
void print_figures(const Measured& measured, bool json) {
  Report report;
  for (const auto& figure : measured.figures) report.add(figure.name, figure.value, figure.unit);
  for (const std::string& note : measured.notes) report.note(note);
  print(report, json);
}

void bench_dynamics(const BenchOptions& options) {
  print_figures(bench::measure_dynamics(options.full), options.json);
}

void bench_collision(const BenchOptions& options) {
  print_figures(bench::measure_collision(options.full), options.json);
}

void bench_gradients(const BenchOptions& options) {
  print_figures(bench::measure_gradients(options.full), options.json);
}

void bench_load(const BenchOptions& options) {
  print_figures(bench::measure_load(options.full), options.json);
}
void bench_steps(const BenchOptions& options) {
  print_figures(bench::measure_steps(options.full), options.json);
}

void add(CLI::App& bench, const char* name, const char* description, void (*run)(const BenchOptions&)) {
  CLI::App* command = bench.add_subcommand(name, description);
  const auto options = std::make_shared<BenchOptions>();
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->add_flag("--full", options->full, "The acceptance sizes: slower, steadier");
  command->callback([options, run] { run(*options); });
}

void add_solvers(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "solvers", "Contact solvers on generated and recorded problems: how exact, how fast");
  const auto options = std::make_shared<bench::SolverOptions>();
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "For machines: one JSON object");
  command->add_flag("--full", options->full, "The acceptance size: 100,000 problems for each solver");
  command->add_option("--seed", options->seed, "Of the generated and the recorded problems");
  command->add_option("--solver", options->only, "Only these: lcp, ncp, gauss_seidel, ode_dantzig")
      ->check(CLI::IsMember({"lcp", "ncp", "gauss_seidel", "ode_dantzig"}));
  command->add_option("--problems", options->archives, "Recorded problems: files, each a set by its name")
      ->check(CLI::ExistingFile);
  command->callback([options, json] {
    std::string shown;
    int shown_done = 0;
    std::unique_ptr<Progress> progress;
    options->progress = [&](const std::string& what, int done, int total) {
      if (what != shown) {
        progress = std::make_unique<Progress>(what, static_cast<std::size_t>(total));
        shown = what;
        shown_done = 0;
      }
      progress->advance(static_cast<std::size_t>(done - std::exchange(shown_done, done)));
    };
    const bench::SolverFigures figures = bench::measure_solvers(*options);
    progress.reset();
    print_figures(figures, *json);
  });
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure, beside rivals where they are installed");
  bench->require_subcommand(1);
  add(*bench, "collision", "Narrow phase by pair, and the collision stage of whole robots", bench_collision);
  add_solvers(*bench);
  add(*bench, "dynamics", "Rigid-body kernels and their derivatives", bench_dynamics);
  add(*bench, "gradients", "Jacobians and adjoints of steps in contact", bench_gradients);
  add(*bench, "load", "From a file to a model that is ready; meshes", bench_load);
  add(*bench, "steps", "Whole steps in contact under both friction laws, and batches over threads",
      bench_steps);
}

}  // namespace articula::cli
