#pragma once
// Solves a contact problem under either law (docs/solvers.md):
//   1. guess the modes (those of a warm start, or from the velocities), solve them exactly, verify;
//   2. change the modes that were contradicted, and again, while no assignment repeats;
//   3. find modes with Dantzig's pivoting (pyramid), and with Gauss-Seidel, then solve and verify;
//   4. if nothing verifies, return the best impulses found, status inexact.
// The result of a verified assignment depends on problem and modes alone.

#include "articula/solvers/interior_point.hpp"
#include "articula/solvers/mode_system.hpp"

namespace articula {

struct ContactSolver {
  void reserve(int rows, int blocks);

  ModeSystem system;
  InteriorPoint interior_point;
  std::vector<SlideState> slides;  // per block
  std::vector<std::uint64_t> seen;
  std::vector<double> trial, trial_sigma, best;
  std::vector<RowMode> trial_mode;
};

// mode (size): the guess if `warm`, and the result; lam, sigma (size): results.
SolveReport solve_contact(const ContactProblem& problem, ContactSolver& work, bool warm, RowMode* mode,
                          double* lam, double* sigma);

}  // namespace articula
