#pragma once
// From a problem whose solution is known to the one given, along a straight line of velocities:
//   b(t) = b + (1 - t) d,     d such that impulses and modes at hand solve the problem at t = 0.
// Where no mode changes impulses move in proportion to t (on cones, nearly). The first row that would break
// its law changes its mode, and the path goes on to the side on which the new mode holds: forward, or where
// friction makes it turn, back. The last step's solution is near, and few modes change on the way.

#include "articula/solvers/mode_system.hpp"

namespace articula {

class Continuation {
 public:
  void reserve(int rows);

  // start: impulses near which to begin; mode, slides: those to begin with. Modes (without yielding),
  // impulses and soft velocities at the end of the path. False if it has no end within reach.
  [[nodiscard]] bool solve(const ContactProblem& problem, ModeSystem& system, const double* start,
                           RowMode* mode, SlideState* slides, double* lam, double* soft);

 private:
  struct Event {
    double length = 0.0;  // of the step up to it
    int block = -1, row = -1;
    RowMode next = RowMode::hold;
  };
  void begin(const ContactProblem& problem, const double* start, RowMode* mode, SlideState* slides);
  void find_direction(const ContactProblem& problem, const ModeSystem& system);
  bool leads_into(const ContactProblem& problem, const Event& last, const RowMode* mode,
                  const SlideState* slides) const;
  Event first_event(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                    const double* lam, const double* soft) const;
  void change(const ContactProblem& problem, const Event& event, const double* lam, const double* soft,
              RowMode* mode, SlideState* slides) const;

  std::vector<double> b_, d_, lam_, x_, dlam_, dsoft_;
};

}  // namespace articula
