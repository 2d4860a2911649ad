#include "bench/solver_contestants.hpp"

#include <dlfcn.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>

#include "articula/solvers/gauss_seidel.hpp"
#include "articula/solvers/solver.hpp"
#include "bench/peers/boxed_lcp.h"

namespace articula::bench {
namespace {

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

// Of this thread, in s: what other threads and processes take from it does not count.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Outcome attempt(const ContactProblem& problem, const Solve& solve) {
  VectorX lam = VectorX::Zero(problem.size);
  const double begin = processor_time();
  const bool failed = solve(problem, lam.data());
  const double spent = processor_time() - begin;
  const double residual = contact_residual(problem, lam.data()) / problem.velocity_scale;
  // Numbers that are none have no residual: as bad as it gets.
  return {std::isfinite(residual) ? residual : 1.0 / solved_residual, failed ? 1.0 : 0.0, spent};
}

std::vector<Contestant> contestants(std::vector<std::string>& notes) {
  std::vector<Contestant> list = {
      {"lcp", {FrictionLaw::pyramid}, our_solver, false, true},
      {"ncp", {FrictionLaw::cone}, our_solver, false, true},
      {"gauss_seidel", {FrictionLaw::pyramid, FrictionLaw::cone}, plain_gauss_seidel}};
  std::string reason;
  if (const BoxedLcp solver = load_ode_dantzig(reason))
    list.push_back({"ode_dantzig", {FrictionLaw::pyramid}, [solver] { return ode_dantzig(solver); }, true});
  else
    notes.push_back("ode_dantzig: left out, " + reason);
  return list;
}

}  // namespace articula::bench
