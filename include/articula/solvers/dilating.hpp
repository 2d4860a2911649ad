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

#include "articula/math/fixed_point.hpp"
#include "articula/solvers/mode_system.hpp"

namespace articula {

class DilatingFriction {
 public:
  struct Round {
    double softness = 1e-2;
    int most_steps = 8;        // of Newton's method
    double follows = 1e-2;     // impulses are exact to this part of the change of Gamma,
    double tolerance = 1e-9;   // and this, relative
    bool accelerated = false;  // Gamma and centre go on from several rounds (fixed_point.hpp)
  };

  void reserve(int rows);
  // From impulses `lam`.
  void start(const ContactProblem& problem, const double* lam);
  // Gamma follows the velocities, then f is made smaller: impulses, and their velocities without Gamma.
  // mode: those of equalities are read, the rest is scratch, as are slides.
  void round(const ContactProblem& problem, ModeSystem& system, const Round& settings, RowMode* mode,
             SlideState* slides, double* lam, double* sigma);

 private:
  void accelerate(const ContactProblem& problem, double softness);
  double follow_slip(const ContactProblem& problem, bool accelerated, double softness);
  void minimise(const ContactProblem& problem, ModeSystem& system, double softness, double tolerance,
                int most_steps, RowMode* mode, SlideState* slides);
  double search(const ContactProblem& problem, double softness, const RowMode* mode);

  std::vector<double> y_, sigma_, lam_, b_, next_, next_sigma_, between_, centre_;
  // Gamma of each contact with friction, then, where rounds are accelerated, R times the centre of each row;
  // in m/s both: as they are, and where the last round leads to.
  std::vector<double> here_, next_here_;
  FixedPoint rounds_;
  double last_softness_ = 0.0;  // of a round that was accelerated
};

}  // namespace articula
