#pragma once
// Who takes part in `articula bench solvers`: ours under both laws, plain Gauss-Seidel, ODE's Dantzig.

#include <functional>
#include <string>
#include <vector>

#include "articula/contact/problem.hpp"

namespace articula::bench {

// Fills lam; returns whether the solver itself says that it failed.
using Solve = std::function<bool(const ContactProblem& problem, double* lam)>;

struct Contestant {
  std::string name;
  std::vector<FrictionLaw> laws;
  std::function<Solve()> make;  // with a workspace of its own, for one thread
  bool apart = false;           // in a process of its own: it may abort, or not end
  bool ours = false;
};

constexpr double solved_residual = 1e-9;  // relative, see contact_residual
constexpr int sweeps = 100;               // of plain Gauss-Seidel

// Those that can be had; a note for each that cannot.
std::vector<Contestant> contestants(std::vector<std::string>& notes);

struct Outcome {
  double residual, failed, seconds;  // relative; 0 or 1; of this thread's processor time
};

// One cold start: warm starts differ in time only.
Outcome attempt(const ContactProblem& problem, const Solve& solve);

}  // namespace articula::bench
