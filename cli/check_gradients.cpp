#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "cli/command.hpp"
#include "cli/gradient_check.hpp"
#include "cli/gradient_states.hpp"
#include "cli/over_threads.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

struct Options {
  std::string model;
  int states = 20, seed = 1, threads = 0;
  double tolerance = 1e-6, budget = 20.0;  // s for each solver, unless full or so many were asked for
  bool json = false, full = false, verbose = false;
  std::vector<int> only;          // states by number; all, if none is given
  std::optional<Contact> solver;  // both, if none is given
};

// Third-party robots by name.
constexpr std::pair<const char*, const char*> shared_robots[] = {
    {"walker2d", "mjcf/walker2d/walker2d.xml"},
    {"ur5e", "mjcf/universal_robots_ur5e/scene.xml"},
    {"panda", "mjcf/franka_emika_panda/scene.xml"},
    {"go1", "mjcf/unitree_go1/scene.xml"},
    {"a1", "mjcf/unitree_a1/scene.xml"},
    {"h1", "mjcf/unitree_h1/scene.xml"},
    {"talos", "mjcf/pal_talos/scene_motor.xml"},
    {"cassie", "mjcf/agility_cassie/scene.xml"},
    {"x2", "mjcf/skydio_x2/scene.xml"},
    {"atlas", "urdf/atlas_v5/atlas_complex.urdf"}};

std::string path_of(const std::string& name) {
  const std::vector<std::string> own = model_names();
  const auto shared = shared_models_directory();
  if (!shared || std::find(own.begin(), own.end(), name) != own.end()) return name;
  for (const auto& [robot, file] : shared_robots) {
    if (name == robot) return (*shared / file).string();
  }
  return name;
}

struct Block {
  std::string name;
  bool of_contacts = false;
  int states = 0, states_in_contact = 0, left_out = 0, nonzero = 0, frozen_left_out = 0, one_sided = 0;
  double worst = 0.0, worst_frozen = 0.0;
};

struct Summary {
  std::vector<Block> blocks;
  int failed = 0, looked_at = 0, one_sided = 0, touching = 0;
  double adjoint = 0.0;
  std::vector<std::string> remarks;
};

// Blocks of one state.
void add(Summary& sum, const GradientCheck& check, const std::vector<BlockResult>& results, bool in_contact,
         int index, const Options& options) {
  sum.one_sided += results[0].one_sided;
  sum.touching += in_contact;
  sum.adjoint = std::max({sum.adjoint, check.adjoint_error(), check.jacobian_error()});
  for (size_t k = 0; k < results.size(); ++k) {
    const BlockResult& result = results[k];
    Block& block = sum.blocks[k];
    if (!result.present) continue;
    ++block.states;
    block.states_in_contact += in_contact;
    block.nonzero += result.largest > 1e-12;
    block.frozen_left_out += result.frozen_left_out;
    if (!result.frozen_left_out) block.worst_frozen = std::max(block.worst_frozen, result.frozen_error);
    // A derivative of the step as it is need not exist: rows that cannot follow, redundant contacts that
    // slide, features that tie. With the modes held there is one.
    const bool none = result.one_sided && result.true_error > options.tolerance;
    block.one_sided += none;
    const bool left_out = result.true_left_out || none;
    block.left_out += left_out;
    if (!left_out) block.worst = std::max(block.worst, result.true_error);
    const bool bad = left_out || result.frozen_left_out || result.frozen_error > options.tolerance ||
                     (!result.true_left_out && result.true_error > options.tolerance);
    if (bad && options.verbose)
      sum.remarks.push_back(fmt::format("state {}, {} (up to {:.1e}): frozen {:.1e}, true {:.1e}{}{}", index,
                                        block.name, result.largest, result.frozen_error, result.true_error,
                                        result.true_left_out ? " left out" : "",
                                        result.one_sided ? " one-sided" : ""));
  }
}

// All states, over threads; every state's figures depend on it alone.
Summary check(const Model& model, Contact contact, const Options& options) {
  const int count = options.full ? std::max(options.states, 500) : options.states;
  for (const int i : options.only) {
    if (i < 0 || i >= count) throw articula::Error("--only {}: there are {} states", i, count);
  }
  const std::vector<CheckedState> states = trajectory_states(
      model, contact, count, static_cast<unsigned>(options.seed), options.threads, options.only);
  Summary sum;
  for (const std::string& name : block_names()) {
    const bool of_contacts = name == "friction" || name == "restitution" || name == "geometry";
    sum.blocks.push_back({.name = name, .of_contacts = of_contacts});
  }
  Progress progress(fmt::format("checking {}", to_string(contact)), states.size());
  std::mutex mutex;
  std::vector<std::unique_ptr<GradientCheck>> idle;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<int> numbers = options.only;
  if (numbers.empty()) numbers.resize(states.size()), std::iota(numbers.begin(), numbers.end(), 0);
  over_threads(options.threads, static_cast<int>(numbers.size()), [&](int k) {
    const int i = numbers[static_cast<size_t>(k)];
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!options.full && elapsed.count() > options.budget) return;  // the rows say how many there were
    std::unique_ptr<GradientCheck> checker;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) checker = std::move(idle.back()), idle.pop_back();
    }
    if (!checker) checker = std::make_unique<GradientCheck>(model, contact);
    std::vector<BlockResult> results;
    const auto seed = static_cast<unsigned>(options.seed + 7919 * i);
    const bool taken = checker->run(states[i].state, states[i].input, seed, results);
    const std::lock_guard lock(mutex);
    progress.advance();
    ++sum.looked_at;
    if (taken)
      add(sum, *checker, results, states[i].in_contact, i, options);
    else
      ++sum.failed;
    idle.push_back(std::move(checker));
  });
  return sum;
}

// Adds the rows of one solver; false if something is wrong with them.
bool add_rows(const Options& options, Contact contact, Summary& sum, Report& report) {
  bool good = sum.failed == 0 && sum.adjoint <= 1e-9;
  const std::string solver = fmt::format("{}/{}", options.model, to_string(contact));
  for (const Block& block : sum.blocks) {
    if (block.states == 0) continue;  // the model has none
    const std::string row = fmt::format("{}/{}", solver, block.name);
    report.add(row + "/max_relative_error", block.worst, "1");
    report.add(row + "/max_relative_error_frozen", block.worst_frozen, "1");
    report.add(row + "/states", block.states, "count");
    report.add(row + "/states_in_contact", block.states_in_contact, "count");
    report.add(row + "/left_out", block.left_out, "count");
    report.add(row + "/nonzero_states", block.nonzero, "count");
    good = good && block.worst <= options.tolerance && block.worst_frozen <= options.tolerance;
    good =
        good && block.frozen_left_out == 0 && block.left_out <= 0.05 * block.states + (options.full ? 0 : 1);
    // What the model has must be seen often enough to count. Links that never touch have no friction.
    const bool idle = block.of_contacts && block.nonzero == 0 && sum.touching == 0;
    if (idle) report.note(fmt::format("{}: nothing touches in any state", row));
    if (options.full && options.only.empty() && block.nonzero < 50 && !idle) {
      good = false;
      report.note(fmt::format("{}: differs from zero in {} states only", row, block.nonzero));
    }
    if (block.one_sided > 0)
      report.note(
          fmt::format("{}: {} states flagged one-sided, and wrong, were left out", row, block.one_sided));
    if (block.frozen_left_out > 0)
      report.note(
          fmt::format("{}: {} states without differences at frozen modes", row, block.frozen_left_out));
  }
  if (options.full && options.only.empty() && sum.touching > 0 && 2 * sum.touching < sum.looked_at) {
    good = false;
    report.note(fmt::format("{}: only {} of {} states are in contact", solver, sum.touching, sum.looked_at));
  }
  report.add(solver + "/adjoint/max_relative_error", sum.adjoint, "1");
  if (sum.one_sided > 0)
    report.note(fmt::format("{}: {} of {} states are flagged one-sided by their certificate", solver,
                            sum.one_sided, sum.looked_at));
  if (sum.failed > 0) report.note(fmt::format("{}: {} steps had no derivative", solver, sum.failed));
  for (const std::string& remark : sum.remarks) report.note(fmt::format("{}: {}", solver, remark));
  return good;
}

void run(const Options& options) {
  const Model model = load(path_of(options.model));
  if (model.nv() == 0) throw articula::Error(fmt::format("'{}' has nothing that moves", options.model));
  Report report;
  bool good = true;
  for (const Contact contact : {Contact::lcp, Contact::ncp}) {
    if (options.solver && *options.solver != contact) continue;
    Summary sum = check(model, contact, options);
    good = add_rows(options, contact, sum, report) && good;
  }
  report.note(
      "in contact: a contact or a limit carries something; left_out: differences cross a change of "
      "modes, or the certificate says that there is no derivative");
  print(report, options.json);
  if (!good)
    throw Failure(fmt::format("an error exceeds the tolerance {:g}, or too many states were left out",
                              options.tolerance));
}

}  // namespace

void add_check_gradients(CLI::App& app) {
  CLI::App* command = app.add_subcommand("check-gradients",
                                         "Derivatives of a step against Ridders' extrapolated differences");
  const auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "A file, a built-in model's name, or a third-party robot's")
      ->required();
  command
      ->add_option("--states", options->states,
                   "How many states along trajectories; all of them, however long it takes")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->seed, "Of the trajectories");
  command->add_option("--threads", options->threads, "0: as many as the machine has")
      ->check(CLI::Range(0, 256));
  command->add_option("--tolerance", options->tolerance, "Largest error that passes")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->add_flag("--full", options->full, "The acceptance size: 500 states");
  command->add_option("--solver", options->solver, "lcp or ncp; both, if none is given")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Contact>{{"lcp", Contact::lcp}, {"ncp", Contact::ncp}}));
  command->add_option("--only", options->only, "Numbers of states, as --verbose tells them");
  command->add_flag("--verbose", options->verbose, "Every state that fails");
  command->callback([command, options] {
    if (command->count("--states") > 0) options->budget = std::numeric_limits<double>::infinity();
    run(*options);
  });
}

}  // namespace articula::cli
