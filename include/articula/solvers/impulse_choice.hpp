#pragma once
// Of all impulses that make the same motion, the smallest:
//   minimise lam . R lam   over   G lam = G lam_0,   lam admissible,     R = tr(G_ii)/dim per block
// The motion tells which impulses are admissible: none where bodies part, friction against the velocity where
// they slide, and everything inside the cone where nothing moves. This is a convex program with one solution,
// solved by guessing which bounds it touches. With those, lam = B x + fixed as in mode_system.hpp, and
//   (S + eps R') dx = B^T r,   r = G (lam_0 - lam),   S = B^T G B,   R' = B^T R B,   x += dx
// from x = 0 converges to the smallest x. Each step leaves eps R' dx = B^T r, so that Y = sum r / eps are the
// multipliers of G lam = G lam_0, and R lam - Y tells which bounds to let go.

#include "articula/solvers/mode_system.hpp"

namespace articula {

class ImpulseChoice {
 public:
  void reserve(int rows, int blocks);

  // mode: by motion, `hold` wherever nothing moves; slides: directions of sliding contacts. lam: any solution
  // of the mode equations, then the smallest admissible one. False if it was not found; lam is as before
  // then.
  [[nodiscard]] bool choose(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                            double* lam);

 private:
  bool solve_touching(const ContactProblem& problem, int most_corrections);
  int update_touching(const ContactProblem& problem, const RowMode* mode, bool only_first);

  std::vector<RowMode>
      touching_;  // as modes, of impulses: free, upper, lower, slide (on the cone), yield (tied)
  std::vector<SlideState> directions_;
  std::vector<ModeUnknown> unknowns_;
  std::vector<double> given_, lam_, x_, step_, residual_, multiplier_, difference_, combined_, scale_;
  std::vector<std::uint64_t> seen_;
  LuFactor lu_;
  double turned_ = 0.0;  // largest change of a direction on a cone in the last update
};

}  // namespace articula
