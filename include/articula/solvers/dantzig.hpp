#pragma once
// Dantzig's pivoting for the boxed problem (pyramid law), after Baraff, with Jade's correction.
//
// Rows are brought to their law one after the other. The driven impulse grows until its velocity vanishes or
// its bound is met; meanwhile rows that hold keep sigma = 0, and rows at a bound stay there. Whatever would
// break its law first changes its mode, and the driven impulse grows on. Bounds of friction move with the
// normal impulse, while a tangent is driven too: the way to its upper bound is (mu f_N - f) / (df - mu df_N),
// to the lower (-mu f_N - f) / (df + mu df_N).

#include "articula/solvers/mode_system.hpp"

namespace articula {

class Dantzig {
 public:
  void reserve(int rows);

  // Modes and impulses of a solution, up to rounding; equalities must have their modes. False if rows keep
  // changing places, or an impulse could grow for ever.
  [[nodiscard]] bool solve(const ContactProblem& problem, ModeSystem& system, RowMode* mode,
                           SlideState* slides, double* lam);

 private:
  struct Event {
    double length = 0.0;  // of the step up to it
    int row = -1;
    RowMode next = RowMode::hold;
  };
  bool drive(const ContactProblem& problem, ModeSystem& system, int row, RowMode* mode, SlideState* slides,
             double* lam);
  Event first_event(const ContactProblem& problem, int driven, const RowMode* mode, const double* lam) const;
  void find_direction(const ContactProblem& problem, ModeSystem& system, int driven, double sign);
  void change(const ContactProblem& problem, const Event& event, RowMode* mode, double* lam);

  std::vector<int> block_of_;  // per row
  std::vector<bool> placed_;   // rows that were driven, or let be
  std::vector<double> sigma_, step_, x_, dsigma_;
  int pivots_left_ = 0;
};

}  // namespace articula
