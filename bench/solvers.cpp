#include "bench/solvers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

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
#include "tests/support/problem_archive.hpp"

namespace articula::bench {
namespace {

using testing::OwnedProblem;

constexpr double solved_residual = 1e-9;  // relative, see contact_residual
constexpr double gravity_step = 0.01;     // m/s
constexpr int sweeps = 100;               // of plain Gauss-Seidel
constexpr double default_seconds = 8.0;   // for each solver, on each set

struct Tally {
  int problems = 0, solved = 0, flagged = 0;
  double worst = 0.0, seconds = 0.0;
};

// Fills lam; returns whether the solver itself says that it failed.
using Solve = std::function<bool(const ContactProblem& problem, double* lam)>;

void count(Tally& tally, const ContactProblem& problem, const Solve& solve, VectorX& lam) {
  lam.setZero(problem.size);
  const auto begin = std::chrono::steady_clock::now();
  const bool failed = solve(problem, lam.data());
  tally.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double residual = contact_residual(problem, lam.data()) / problem.velocity_scale;
  if (!std::isfinite(residual)) residual = 1.0 / solved_residual;  // numbers that are none
  ++tally.problems;
  tally.solved += residual <= solved_residual;
  tally.flagged += failed;
  tally.worst = std::max(tally.worst, residual);
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

// Problems one after the other; false at the end.
using Source = std::function<bool(OwnedProblem&)>;

void report(const std::string& set, const std::string& solver, const Tally& tally, SolverFigures& out) {
  if (tally.problems == 0) return;
  const std::string path = set + "/" + solver + "/";
  const auto fraction = [&](int count) { return static_cast<double>(count) / tally.problems; };
  out.figures.push_back({path + "solved_fraction", fraction(tally.solved), ""});
  out.figures.push_back({path + "worst_residual", tally.worst, ""});
  out.figures.push_back({path + "flagged_fraction", fraction(tally.flagged), ""});
  out.figures.push_back({path + "us", tally.seconds / tally.problems * 1e6, "us"});
  out.figures.push_back({path + "problems", static_cast<double>(tally.problems), ""});
}

struct Contestant {
  std::string name;
  std::vector<FrictionLaw> laws;
  Solve solve;
};

void run(const std::string& set, const std::function<Source(FrictionLaw)>& open,
         const std::vector<Contestant>& contestants, double seconds, SolverFigures& out) {
  for (const Contestant& contestant : contestants) {
    Tally tally;
    OwnedProblem problem;
    VectorX lam;
    for (FrictionLaw law : contestant.laws) {
      const auto begin = std::chrono::steady_clock::now();
      const Source next = open(law);
      while (next(problem)) {
        if (problem.law == law) count(tally, problem.view(gravity_step), contestant.solve, lam);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        if (spent.count() * static_cast<double>(contestant.laws.size()) > seconds) {
          out.notes.push_back(fmt::format("{}/{}: stopped after {} problems (--full runs all)", set,
                                          contestant.name, tally.problems));
          break;
        }
      }
    }
    report(set, contestant.name, tally, out);
  }
}

}  // namespace

SolverFigures measure_solvers(const SolverOptions& options) {
  SolverFigures out;
  std::vector<Contestant> contestants = {
      {"lcp", {FrictionLaw::pyramid}, our_solver()},
      {"ncp", {FrictionLaw::cone}, our_solver()},
      {"gauss_seidel", {FrictionLaw::pyramid, FrictionLaw::cone}, plain_gauss_seidel()}};
  std::string reason;
  if (const BoxedLcp solver = load_ode_dantzig(reason))
    contestants.push_back({"ode_dantzig", {FrictionLaw::pyramid}, ode_dantzig(solver)});
  else
    out.notes.push_back("ode_dantzig: left out, " + reason);
  out.notes.push_back(fmt::format("gauss_seidel: {} sweeps from zero; solved: relative residual below {:g}",
                                  sweeps, solved_residual));

  const int problems = options.full ? 100000 : 10000;
  const double seconds =
      options.full ? 1e9 : default_seconds / (1.0 + static_cast<double>(options.archives.size()));
  run(
      "generated",
      [&](FrictionLaw law) -> Source {
        return [law, random = std::make_shared<std::mt19937>(options.seed),
                left = std::make_shared<int>(problems)](OwnedProblem& problem) {
          if ((*left)-- <= 0) return false;
          problem = testing::random_contact_problem(*random, {.law = law});
          return true;
        };
      },
      contestants, seconds, out);
  for (const std::string& path : options.archives) {
    run(
        std::filesystem::path(path).stem().string(),
        [&](FrictionLaw) -> Source {
          return [archive = std::make_shared<testing::ProblemArchive>(path)](OwnedProblem& problem) {
            return archive->next(problem);
          };
        },
        contestants, seconds, out);
  }
  return out;
}

}  // namespace articula::bench
