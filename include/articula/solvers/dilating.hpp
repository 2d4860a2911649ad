#pragma once
// Friction that dilates: where the laws are those of a convex problem.
//
// With every contact's velocity moved by Gamma = mu |sigma_T| along its normal (De Saxce), the laws say that
//   -(sigma + Gamma + eps R (lam - centre))  is normal to the cone of admissible impulses at lam
// which for a given Gamma is the minimum of a convex function of y, sigma = G y + b + Gamma,
//   f(y) = 1/2 y^T G y + sum over blocks of 1/2 eps R |lam|^2,   lam = P(centre - sigma / (eps R))
// (for intervals Huber's function instead). Newton's method with a line search finds it from anywhere. Then
// centre <- y, which is lam at the minimum and makes the rows as hard as they are, and Gamma follows the
// velocities.

#include "articula/solvers/mode_system.hpp"

namespace articula {

class DilatingFriction {
 public:
  void reserve(int rows);
  // From impulses `lam`.
  void start(const ContactProblem& problem, const double* lam);
  // Gamma follows the velocities, then f is made smaller: impulses, and their velocities without Gamma.
  // mode: those of equalities are read, the rest is scratch, as are slides.
  void round(const ContactProblem& problem, ModeSystem& system, double softness, RowMode* mode,
             SlideState* slides, double* lam, double* sigma);

 private:
  double follow_slip(const ContactProblem& problem);
  void minimise(const ContactProblem& problem, ModeSystem& system, double softness, double tolerance,
                int most_steps, RowMode* mode, SlideState* slides);
  double search(const ContactProblem& problem, double softness, const RowMode* mode);

  std::vector<double> y_, sigma_, lam_, b_, next_, next_sigma_, between_, centre_;
};

}  // namespace articula
