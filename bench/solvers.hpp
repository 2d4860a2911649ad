#pragma once
// `articula bench solvers`: how exactly and how fast contact problems are solved, beside plain Gauss-Seidel
// and ODE's Dantzig.

#include <functional>
#include <string>
#include <vector>

#include "bench/collision.hpp"

namespace articula::bench {

struct SolverOptions {
  bool full = false;                  // 100,000 generated and 100,000 recorded problems for each solver
  unsigned seed = 1;                  // of both
  std::vector<std::string> only;      // lcp, ncp, gauss_seidel, ode_dantzig; empty: all of them
  std::vector<std::string> archives;  // recorded problems (tests/support/problem_archive.hpp)
  // Called now and then from some thread, one at a time: set and solvers, problems done, of how many (0: of
  // nobody knows how many).
  std::function<void(const std::string& what, int done, int total)> progress;
};

struct SolverFigures {
  std::vector<Figure> figures;
  std::vector<std::string> notes;
};

// Throws articula::Error where an archive cannot be read.
SolverFigures measure_solvers(const SolverOptions& options);

}  // namespace articula::bench
