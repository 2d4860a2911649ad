#pragma once
// From a problem whose solution is known to the one given, along a straight line of velocities:
//   b(t) = b + (1 - t) d,     d such that impulses and modes at hand solve the problem at t = 0.
// Where no mode changes impulses move in proportion to t; on cones the path bends and is followed in steps,
// each with a prediction and a correction. The first row that would break its law changes its mode, and the
// path goes on to the side on which the new mode holds: forward, or where friction makes it turn, back. The
// last step's solution is near, and few modes change on the way.

#include "articula/solvers/mode_system.hpp"

namespace articula {

class Continuation {
 public:
  void reserve(int rows);

  struct Start {
    const double* lam;  // impulses near which to begin
    double softness = usual_softness;
    double inside = 1e-3;  // of the velocity scale: how far from a change of modes the path begins
    // Per block: contacts that slide where their friction is at its bound; the others yield. None: all slide.
    const std::vector<bool>* moves = nullptr;
    int most_factorisations = 1000;  // after so many it is given up
  };
  // mode, slides: those to begin with. Modes, impulses and soft velocities at the end of the path. False if
  // it has no end within reach.
  [[nodiscard]] bool solve(const ContactProblem& problem, ModeSystem& system, const Start& start,
                           RowMode* mode, SlideState* slides, double* lam, double* soft);

 private:
  // A place on the path, and what the caller reads at its end.
  struct Place {
    RowMode* mode;
    SlideState* slides;
    double *lam, *soft;
    double t = 0.0;
  };
  struct Event {
    double length = 0.0;  // of the step up to it
    int block = -1, row = -1;
    RowMode next = RowMode::hold;
    double yielded[5] = {};  // of soft_T in the law that the normal left
  };
  void begin(const ContactProblem& problem, const Start& start, Place& at);
  bool slides_at_once(int block) const { return moves_ == nullptr || (*moves_)[block]; }
  RowMode at_bound(RowMode next, int block) const;
  void find_direction(const ContactProblem& problem, ModeSystem& system);
  bool leads_into(const ContactProblem& problem, const Event& last, const RowMode* mode,
                  const SlideState* slides) const;
  void offer_events(const ContactProblem& problem, int block, const Place& at, Event& first) const;
  Event first_event(const ContactProblem& problem, const Place& at) const;
  void order_blocks(const ContactProblem& problem, const Place& at, ModeSystem& system);
  // The mode that the event leads to; `next` is then the side from which a bound was left.
  void change(const ContactProblem& problem, Event& event, Place& at);
  void move(const ContactProblem& problem, bool forward, double length, Place& at) const;
  double part_obeyed(const ContactProblem& problem, const Place& at) const;

  bool follow_straight(const ContactProblem& problem, ModeSystem& system, Place& at);
  bool follow_curve(const ContactProblem& problem, ModeSystem& system, Place& at);
  void set_velocities(const ContactProblem& problem, double t);
  bool correct(const ContactProblem& problem, ModeSystem& system, Place& at);
  void predict(const ContactProblem& problem, double length, Place& at) const;
  bool advance(const ContactProblem& problem, ModeSystem& system, bool forward, double& length, Place& at);
  void turn_back();

  std::vector<double> b_, d_, lam_, x_, dlam_, dsoft_, soft_;
  std::vector<SlideState> slides_;
  const std::vector<bool>* moves_ = nullptr;
  int most_factorisations_ = 0;
  std::vector<bool> late_;  // per block
};

}  // namespace articula
