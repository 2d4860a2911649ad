#pragma once
// Solves a contact problem under either law (docs/solvers.md):
//   1. guess the modes (those of a warm start, or from the velocities), solve them exactly, verify;
//   2. change the modes that were contradicted, and again, while no assignment repeats;
//   3. find modes by Gauss-Seidel, by an interior point, and along its central path; pivot again from there;
//   4. take the modes of the motion that was found, solve them from nothing, and return the smallest impulses
//      that make this motion;
//   5. if nothing verifies, return the best impulses found, status inexact.
// The result of a verified assignment depends on problem and modes alone.

#include "articula/solvers/impulse_choice.hpp"
#include "articula/solvers/interior_point.hpp"
#include "articula/solvers/mode_system.hpp"

namespace articula {

struct ContactSolver {
  void reserve(int rows, int blocks);

  ModeSystem system;
  ImpulseChoice choice;
  InteriorPoint interior_point;
  std::vector<SlideState> slides;  // per block
  std::vector<std::uint64_t> seen;
  std::vector<Block> blocks;               // where a coefficient of friction had to be raised above zero
  std::vector<double> compliant, relaxed;  // G + eps R, and b with slack, where biases contradict each other
  std::vector<double> trial, trial_sigma, best, approximate, final_lam, final_sigma;
  std::vector<RowMode> trial_mode;
};

// mode (size): the guess if `warm`, and the result; lam, sigma (size): results.
SolveReport solve_contact(const ContactProblem& problem, ContactSolver& work, bool warm, RowMode* mode,
                          double* lam, double* sigma);

}  // namespace articula
