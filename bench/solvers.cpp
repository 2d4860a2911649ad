#include "bench/solvers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/solver_contestants.hpp"
#include "bench/support/child_process.hpp"
#include "tests/support/problem_archive.hpp"
#include "tests/support/scene_problems.hpp"

namespace articula::bench {
namespace {

using testing::OwnedProblem;
using Clock = std::chrono::steady_clock;

constexpr double gravity_step = 0.01;     // m/s
constexpr double default_seconds = 13.0;  // for each pass, over all sets
constexpr unsigned patience = 2;          // s, for one problem in a process apart

struct Tally {
  int problems = 0, solved = 0, flagged = 0;
  int silent = 0;  // neither solved nor flagged
  int died = 0;    // took its process with it
  double worst = 0.0, seconds = 0.0, slowest = 0.0;
  std::string worst_origin, slowest_origin;
};

void count(Tally& tally, const Outcome& outcome, const std::string& origin) {
  const bool solved = outcome.residual <= solved_residual, flagged = outcome.failed != 0.0;
  ++tally.problems;
  tally.solved += solved;
  tally.flagged += flagged;
  tally.silent += !solved && !flagged;
  tally.seconds += outcome.seconds;
  if (outcome.residual > tally.worst) tally.worst = outcome.residual, tally.worst_origin = origin;
  if (outcome.seconds > tally.slowest) tally.slowest = outcome.seconds, tally.slowest_origin = origin;
}

// Problems one after the other, with where they are from; false at the end, however often it is asked.
struct Sourced {
  OwnedProblem problem;
  std::string origin;
};
using Source = std::function<bool(Sourced&)>;

struct Set {
  std::string name;
  int problems;  // of a law; 0: as many as there are
  std::function<Source(FrictionLaw)> open;
};

// Each problem of a set under one law, solved by everybody who takes part: figures beside each other are of
// the same problems.
struct Pass {
  const Set* set;
  FrictionLaw law;
  std::vector<const Contestant*> solvers;
  std::vector<Tally*> tallies;  // theirs
};

void report(const std::string& path, const Contestant& contestant, const Tally& tally, SolverFigures& out) {
  if (tally.problems == 0) return;
  const auto fraction = [&](int count) { return static_cast<double>(count) / tally.problems; };
  out.figures.push_back({path + "solved_fraction", fraction(tally.solved), ""});
  out.figures.push_back({path + "worst_residual", tally.worst, ""});
  out.figures.push_back({path + "flagged_fraction", fraction(tally.flagged), ""});
  out.figures.push_back({path + "unflagged_failures", static_cast<double>(tally.silent), ""});
  out.figures.push_back({path + "us", tally.seconds / tally.problems * 1e6, "us"});
  out.figures.push_back({path + "us_slowest", tally.slowest * 1e6, "us"});
  out.figures.push_back({path + "problems", static_cast<double>(tally.problems), ""});
  if (contestant.apart) out.figures.push_back({path + "died", static_cast<double>(tally.died), ""});
  if (!contestant.ours) return;
  out.notes.push_back(fmt::format("{}: the slowest is {}", path, tally.slowest_origin));
  if (tally.solved < tally.problems)
    out.notes.push_back(fmt::format("{}: {} of {} not solved, the worst is {}", path,
                                    tally.problems - tally.solved, tally.problems, tally.worst_origin));
}

// The next problems of a law.
std::vector<Sourced> next_problems(const Source& next, FrictionLaw law, std::size_t most) {
  std::vector<Sourced> batch;
  for (Sourced sourced; batch.size() < most && next(sourced);) {
    if (sourced.problem.law == law) batch.push_back(std::move(sourced));
  }
  return batch;
}

void solve_apart(const std::vector<Sourced>& batch, const Solve& solve, Tally& tally) {
  const ChildResults results =
      in_child_processes(static_cast<int>(batch.size()), 3, patience, [&](int i, double* result) {
        const Outcome outcome = attempt(batch[i].problem.view(gravity_step), solve);
        result[0] = outcome.residual;
        result[1] = outcome.failed;
        result[2] = outcome.seconds;
      });
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double* r = &results.values[3 * i];
    Outcome outcome{r[0], r[1], r[2]};
    if (results.died[i]) {  // no impulses: as if it had returned zero and said so
      const ContactProblem problem = batch[i].problem.view(gravity_step);
      const VectorX none = VectorX::Zero(problem.size);
      outcome = {contact_residual(problem, none.data()) / problem.velocity_scale, 1.0, 0.0};
      ++tally.died;
    }
    count(tally, outcome, batch[i].origin);
  }
}

// Threads take turns at the source, which makes problems one after the other, and solve what they took.
class Runner {
 public:
  Runner(const Pass& pass, double seconds, const SolverOptions& options)
      : pass_(pass),
        options_(options),
        next_(pass.set->open(pass.law)),
        seconds_(seconds) {
    for (const Contestant* contestant : pass.solvers)
      label_ += (label_.empty() ? pass.set->name + " " : "+") + contestant->name;
  }

  // Whether all problems were solved within the time.
  bool run(unsigned threads) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return !late_;
  }
  int problems() const { return done_; }

 private:
  std::vector<Sourced> take() {
    const std::lock_guard lock(mutex_);
    late_ |= std::chrono::duration<double>(Clock::now() - begin_).count() > seconds_;
    if (late_ || failure_) return {};
    try {
      return next_problems(next_, pass_.law, pass_.solvers[0]->apart ? 100 : 10);
    } catch (...) {
      failure_ = std::current_exception();
      return {};
    }
  }

  void work() {
    std::vector<Solve> solvers;
    for (const Contestant* contestant : pass_.solvers) solvers.push_back(contestant->make());
    for (std::vector<Sourced> batch = take(); !batch.empty(); batch = take()) {
      std::vector<Outcome> outcomes;
      for (std::size_t k = 0; k < solvers.size(); ++k) {
        if (pass_.solvers[k]->apart) {
          solve_apart(batch, solvers[k], *pass_.tallies[k]);
          continue;
        }
        outcomes.clear();
        for (const Sourced& s : batch) outcomes.push_back(attempt(s.problem.view(gravity_step), solvers[k]));
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < batch.size(); ++i) count(*pass_.tallies[k], outcomes[i], batch[i].origin);
      }
      const std::lock_guard lock(mutex_);
      done_ += static_cast<int>(batch.size());
      if (options_.progress) options_.progress(label_, done_, pass_.set->problems);
    }
  }

  const Pass& pass_;
  const SolverOptions& options_;
  const Source next_;
  std::string label_;
  double seconds_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  int done_ = 0;
  bool late_ = false;
  std::exception_ptr failure_;
};

Set generated(unsigned seed, int problems) {
  return {"generated", problems, [=](FrictionLaw law) -> Source {
            return [law, seed, problems, random = std::mt19937(seed), taken = 0](Sourced& s) mutable {
              if (taken == problems) return false;
              s.origin = fmt::format("seed {}, number {}", seed, taken++);
              s.problem = testing::random_contact_problem(random, {.law = law});
              return true;
            };
          }};
}

Set recorded(unsigned seed, int problems) {
  return {"recorded", problems, [=](FrictionLaw law) -> Source {
            return [scenes = std::make_shared<testing::SceneProblems>(law, seed), seed,
                    left = problems](Sourced& s) mutable {
              if (left == 0) return false;
              --left;
              scenes->next(s.problem);
              s.origin = fmt::format("{} (seed {})", scenes->origin(), seed);
              return true;
            };
          }};
}

Set archived(const std::string& path) {
  return {std::filesystem::path(path).stem().string(), 0, [=](FrictionLaw) -> Source {
            return [archive = std::make_shared<testing::ProblemArchive>(path), path,
                    number = 0](Sourced& s) mutable {
              s.origin = fmt::format("{}, number {}", path, number++);
              return archive->next(s.problem);
            };
          }};
}

// Those in processes of their own by themselves: a process with several threads is no good parent.
std::vector<Pass> passes(const Set& set, const std::vector<Contestant>& contestants,
                         std::map<std::string, Tally>& tallies) {
  std::vector<Pass> list;
  for (const bool apart : {false, true}) {
    for (const FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
      Pass pass{&set, law, {}, {}};
      for (const Contestant& contestant : contestants) {
        if (contestant.apart != apart || std::count(contestant.laws.begin(), contestant.laws.end(), law) == 0)
          continue;
        pass.solvers.push_back(&contestant);
        pass.tallies.push_back(&tallies[contestant.name]);
      }
      if (!pass.solvers.empty()) list.push_back(pass);
    }
  }
  return list;
}

void run(const Set& set, const std::vector<Contestant>& contestants, double seconds, unsigned threads,
         const SolverOptions& options, SolverFigures& out) {
  std::map<std::string, Tally> tallies;
  for (const Pass& pass : passes(set, contestants, tallies)) {
    Runner runner(pass, seconds, options);
    if (runner.run(pass.solvers[0]->apart ? 1 : threads)) continue;
    for (const Contestant* contestant : pass.solvers)
      out.notes.push_back(fmt::format("{}/{}: stopped after {} problems (--full runs all)", set.name,
                                      contestant->name, runner.problems()));
  }
  for (const Contestant& contestant : contestants)
    report(set.name + "/" + contestant.name + "/", contestant, tallies[contestant.name], out);
}

}  // namespace

SolverFigures measure_solvers(const SolverOptions& options) {
  SolverFigures out;
  std::vector<Contestant> list = contestants(out.notes);
  const unsigned threads = options.full ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  out.notes.push_back(
      fmt::format("solved: relative residual at most {:g}; all starts are cold", solved_residual));
  out.notes.push_back(fmt::format(
      "us: processor time of the thread that solves, one start each, mean over the problems; {} at a time",
      threads));
  out.notes.push_back(fmt::format(
      "gauss_seidel: {} sweeps from zero; ode_dantzig: one that takes more than {} s is ended, and died",
      sweeps, patience));
  out.notes.push_back(fmt::format("recorded from {}", fmt::join(testing::SceneProblems::names(), ", ")));

  if (!options.only.empty())
    std::erase_if(list, [&](const Contestant& c) {
      return std::find(options.only.begin(), options.only.end(), c.name) == options.only.end();
    });
  const int problems = options.full ? 100000 : 10000;
  std::vector<Set> sets = {generated(options.seed, problems), recorded(options.seed, problems)};
  for (const std::string& path : options.archives) sets.push_back(archived(path));
  const double seconds = options.full ? 1e9 : default_seconds / static_cast<double>(sets.size());
  for (const Set& set : sets) run(set, list, seconds, threads, options, out);
  return out;
}

}  // namespace articula::bench
