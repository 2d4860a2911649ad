#pragma once
// What a contact solver returns.

#include <string_view>

#include "articula/contact/problem.hpp"

namespace articula {

// What holds on a row. A contact's tangents share `slide` and `yield`. Results are modes of the motion: a row
// that stands still is held, whoever carries the load. Guesses also tell which of these rows carry all they
// can: `yield`, or for a pyramid `yield_upper` and `yield_lower`.
enum class RowMode : std::uint8_t {
  free,   // lam = 0
  hold,   // sigma = 0
  upper,  // lam at its upper bound: bound, or mu lam_N
  lower,
  slide,  // cone: lam_T = -mu lam_N w / |w|
  yield,  // cone: on its boundary, and nothing slides
  yield_upper,
  yield_lower
};

// How a contact slides (or yields) on its cone; w = mu o sigma_T.
struct SlideState {
  double d[5] = {};     // direction of w, against the force
  double speed = 0.0;   // |w|
  double normal = 0.0;  // lam_N
};

enum class SolveStatus : std::uint8_t {
  solved,    // verified: all laws hold to rounding, with the smallest impulses that do
  multiple,  // solved, but other solutions exist that move otherwise, or the smallest impulses were not found
  infeasible_bias,  // no impulses can do what the biases ask for: solved with the least slack that can be met
  inexact           // not solved; residual says how badly
};

std::string_view to_string(RowMode mode);
std::string_view to_string(SolveStatus status);

enum class SolveStage : std::uint8_t { nothing, guess, pivoting, iterating, path, failed };

struct SolveReport {
  SolveStatus status = SolveStatus::solved;
  SolveStage stage = SolveStage::nothing;  // what found the modes
  double residual = 0.0;                   // m/s, contact_residual
  double relative_residual = 0.0;          // over velocity_scale
  int iterations = 0;                      // factorisations
  bool other_motion = false;               // another one obeys the laws, too, and was found
  double slack = 0.0;                      // m/s, granted to the biases; residual and modes are those with it
};

// How far a solution is from the next change of modes, over all rows of a block.
struct Margin {
  double impulse = 0.0;   // N s
  double velocity = 0.0;  // m/s; of the two, only what applies is set: the other is infinite
};
Margin block_margin(const ContactProblem& problem, const Block& block, const double* lam, const double* sigma,
                    const RowMode* mode);

}  // namespace articula
