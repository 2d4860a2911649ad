#include "bench/solvers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>

#include "articula/solvers/gauss_seidel.hpp"
#include "articula/solvers/solver.hpp"
#include "bench/peers/boxed_lcp.h"
#include "bench/support/child_process.hpp"
#include "tests/support/problem_archive.hpp"
#include "tests/support/scene_problems.hpp"

namespace articula::bench {
namespace {

using testing::OwnedProblem;

constexpr double solved_residual = 1e-9;  // relative, see contact_residual
constexpr double gravity_step = 0.01;     // m/s
constexpr int sweeps = 100;               // of plain Gauss-Seidel
constexpr double default_seconds = 10.0;  // for each solver, over all sets
constexpr unsigned patience = 10;         // s, for one problem in a process apart

struct Tally {
  int problems = 0, solved = 0, flagged = 0;
  int silent = 0;  // neither solved nor flagged
  int died = 0;    // took its process with it
  double worst = 0.0, seconds = 0.0;
  std::string worst_origin;
};

// Fills lam; returns whether the solver itself says that it failed.
using Solve = std::function<bool(const ContactProblem& problem, double* lam)>;

struct Outcome {
  double residual, failed, seconds;
};

// Of this thread, in s: what other processes take from it does not count.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// One cold start: warm starts differ in time only.
Outcome attempt(const ContactProblem& problem, const Solve& solve) {
  VectorX lam = VectorX::Zero(problem.size);
  const double begin = processor_time();
  const bool failed = solve(problem, lam.data());
  const double spent = processor_time() - begin;
  const double residual = contact_residual(problem, lam.data()) / problem.velocity_scale;
  // Numbers that are none have no residual: as bad as it gets.
  return {std::isfinite(residual) ? residual : 1.0 / solved_residual, failed ? 1.0 : 0.0, spent};
}

void count(Tally& tally, const Outcome& outcome, const std::string& origin) {
  const bool solved = outcome.residual <= solved_residual, flagged = outcome.failed != 0.0;
  ++tally.problems;
  tally.solved += solved;
  tally.flagged += flagged;
  tally.silent += !solved && !flagged;
  tally.seconds += outcome.seconds;
  if (outcome.residual > tally.worst) {
    tally.worst = outcome.residual;
    tally.worst_origin = origin;
  }
}

Solve our_solver() {
  struct Room {
    ContactSolver work;
    std::vector<RowMode> guess, mode;
    std::vector<SlideState> slides;
    std::vector<double> sigma;
  };
  return [room = std::make_shared<Room>()](const ContactProblem& problem, double* lam) {
    room->guess.resize(problem.size);
    room->slides.resize(problem.blocks.size());
    room->mode.resize(problem.size);
    room->sigma.resize(problem.size);
    const SolveReport report =
        solve_contact(problem, room->work, false, {room->guess.data(), room->slides.data()},
                      room->mode.data(), lam, room->sigma.data());
    return report.status == SolveStatus::inexact || report.status == SolveStatus::infeasible_bias;
  };
}

Solve plain_gauss_seidel() {
  return [](const ContactProblem& problem, double* lam) {
    return gauss_seidel(problem, sweeps, lam) > solved_residual * problem.velocity_scale;
  };
}

// Opens the rival's library beside the executable, or says why not.
BoxedLcp load_ode_dantzig(std::string& reason) {
  const char* folder = std::getenv("ARTICULA_PEERS");
  std::error_code ignored;
  const std::filesystem::path file =
      (folder ? std::filesystem::path(folder)
              : std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path()) /
      "libarticula_peer_ode_dantzig.so";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    reason = dlerror();
    return nullptr;
  }
  return reinterpret_cast<BoxedLcp>(dlsym(library, "articula_boxed_lcp"));
}

Solve ode_dantzig(BoxedLcp solver) {
  struct Room {
    std::vector<double> G, low, high;
    std::vector<int> normal;
  };
  return [solver, room = std::make_shared<Room>()](const ContactProblem& problem, double* lam) {
    const double infinity = std::numeric_limits<double>::infinity();
    const int n = problem.size;
    room->G.resize(static_cast<std::size_t>(n) * n);
    for (int i = 0; i < n; ++i) std::copy(problem.row(i), problem.row(i) + n, &room->G[i * n]);
    room->low.assign(n, -infinity);
    room->high.assign(n, infinity);
    room->normal.assign(n, -1);
    for (const Block& block : problem.blocks) {
      const int first = block.first;
      if (block.kind == BlockKind::interval) {
        room->low[first] = -block.bound;
        room->high[first] = block.bound;
      } else if (block.kind != BlockKind::equality) {
        room->low[first] = 0.0;
      }
      for (int i = 1; i < block.dim && block.kind == BlockKind::contact; ++i) {
        room->high[first + i] = block.mu[i - 1];
        room->low[first + i] = -block.mu[i - 1];
        room->normal[first + i] = first;
      }
    }
    return solver(n, room->G.data(), problem.b, room->low.data(), room->high.data(), room->normal.data(),
                  lam) == 0;
  };
}

// Problems one after the other, with where they are from; false at the end.
struct Sourced {
  OwnedProblem problem;
  std::string origin;
};
using Source = std::function<bool(Sourced&)>;

struct Set {
  std::string name;
  std::function<Source(FrictionLaw)> open;
};

struct Contestant {
  std::string name;
  std::vector<FrictionLaw> laws;
  Solve solve;
  bool apart = false;  // in a process of its own
  bool ours = false;
};

void report(const std::string& path, const Contestant& contestant, const Tally& tally, SolverFigures& out) {
  if (tally.problems == 0) return;
  const auto fraction = [&](int count) { return static_cast<double>(count) / tally.problems; };
  out.figures.push_back({path + "solved_fraction", fraction(tally.solved), ""});
  out.figures.push_back({path + "worst_residual", tally.worst, ""});
  out.figures.push_back({path + "flagged_fraction", fraction(tally.flagged), ""});
  out.figures.push_back({path + "unflagged_failures", static_cast<double>(tally.silent), ""});
  out.figures.push_back({path + "us", tally.seconds / tally.problems * 1e6, "us"});
  out.figures.push_back({path + "problems", static_cast<double>(tally.problems), ""});
  if (contestant.apart) out.figures.push_back({path + "died", static_cast<double>(tally.died), ""});
  if (contestant.ours && tally.solved < tally.problems)
    out.notes.push_back(fmt::format("{}: {} of {} not solved, the worst is {}", path,
                                    tally.problems - tally.solved, tally.problems, tally.worst_origin));
}

// The next problems of a law, as many as a child process gets at once.
std::vector<Sourced> next_problems(const Source& next, FrictionLaw law, std::size_t most) {
  std::vector<Sourced> batch;
  for (Sourced sourced; batch.size() < most && next(sourced);) {
    if (sourced.problem.law == law) batch.push_back(std::move(sourced));
  }
  return batch;
}

void solve_batch(const std::vector<Sourced>& batch, const Contestant& contestant, Tally& tally) {
  if (!contestant.apart) {
    for (const Sourced& s : batch)
      count(tally, attempt(s.problem.view(gravity_step), contestant.solve), s.origin);
    return;
  }
  const ChildResults results =
      in_child_processes(static_cast<int>(batch.size()), 3, patience, [&](int i, double* result) {
        const Outcome outcome = attempt(batch[i].problem.view(gravity_step), contestant.solve);
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

void run(const Set& set, const Contestant& contestant, double seconds, SolverFigures& out) {
  Tally tally;
  for (FrictionLaw law : contestant.laws) {
    const auto begin = std::chrono::steady_clock::now();
    const Source next = set.open(law);
    while (true) {
      const std::vector<Sourced> batch = next_problems(next, law, contestant.apart ? 100 : 10);
      if (batch.empty()) break;
      solve_batch(batch, contestant, tally);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() * static_cast<double>(contestant.laws.size()) < seconds) continue;
      out.notes.push_back(fmt::format("{}/{}: stopped after {} problems (--full runs all)", set.name,
                                      contestant.name, tally.problems));
      break;
    }
  }
  report(set.name + "/" + contestant.name + "/", contestant, tally, out);
}

Set generated(unsigned seed, int problems) {
  return {"generated", [=](FrictionLaw law) -> Source {
            return [law, seed, problems, random = std::mt19937(seed), taken = 0](Sourced& s) mutable {
              if (taken == problems) return false;
              s.origin = fmt::format("seed {}, number {}", seed, taken++);
              s.problem = testing::random_contact_problem(random, {.law = law});
              return true;
            };
          }};
}

Set recorded(unsigned seed, int problems) {
  return {"recorded", [=](FrictionLaw law) -> Source {
            return [scenes = std::make_shared<testing::SceneProblems>(law, seed), seed,
                    left = problems](Sourced& s) mutable {
              if (left-- == 0) return false;
              scenes->next(s.problem);
              s.origin = fmt::format("{} (seed {})", scenes->origin(), seed);
              return true;
            };
          }};
}

Set archived(const std::string& path) {
  return {std::filesystem::path(path).stem().string(), [=](FrictionLaw) -> Source {
            return [archive = std::make_shared<testing::ProblemArchive>(path), path,
                    number = 0](Sourced& s) mutable {
              s.origin = fmt::format("{}, number {}", path, number++);
              return archive->next(s.problem);
            };
          }};
}

}  // namespace

SolverFigures measure_solvers(const SolverOptions& options) {
  SolverFigures out;
  std::vector<Contestant> contestants = {
      {"lcp", {FrictionLaw::pyramid}, our_solver(), false, true},
      {"ncp", {FrictionLaw::cone}, our_solver(), false, true},
      {"gauss_seidel", {FrictionLaw::pyramid, FrictionLaw::cone}, plain_gauss_seidel()}};
  std::string reason;
  if (const BoxedLcp solver = load_ode_dantzig(reason))
    contestants.push_back({"ode_dantzig", {FrictionLaw::pyramid}, ode_dantzig(solver), true});
  else
    out.notes.push_back("ode_dantzig: left out, " + reason);
  out.notes.push_back(fmt::format(
      "gauss_seidel: {} sweeps from zero; solved: relative residual at most {:g}; all starts are cold",
      sweeps, solved_residual));
  out.notes.push_back(fmt::format("recorded from {}", fmt::join(testing::SceneProblems::names(), ", ")));

  if (!options.only.empty())
    std::erase_if(contestants, [&](const Contestant& c) {
      return std::find(options.only.begin(), options.only.end(), c.name) == options.only.end();
    });
  const int problems = options.full ? 100000 : 10000;
  std::vector<Set> sets = {generated(options.seed, problems), recorded(options.seed, problems)};
  for (const std::string& path : options.archives) sets.push_back(archived(path));
  const double seconds = options.full ? 1e9 : default_seconds / static_cast<double>(sets.size());
  for (const Set& set : sets) {
    for (const Contestant& contestant : contestants) run(set, contestant, seconds, out);
  }
  return out;
}

}  // namespace articula::bench
