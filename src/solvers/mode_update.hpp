#pragma once
// Which laws a solution of the mode equations breaks, and the modes to try next.

#include "articula/solvers/mode_system.hpp"

namespace articula {

// Friction that is at its bound while nothing moves, by the modes of a guess.
inline bool is_yielding(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
}

inline bool has_friction(const Block& block) { return block.kind == BlockKind::contact && block.dim > 1; }

// Errors this small, in m/s (impulses times mobility), are rounding.
double mode_tolerance(const ContactProblem& problem, const double* lam);

// Of soft solutions, in m/s.
struct Tolerances {
  double impulse = 0.0;   // times mobility
  double velocity = 0.0;  // soft velocities tell apart what is much smaller than a velocity
  double still = 0.0;     // soft velocities of rows that carry a load and do not move are below this
};
Tolerances soft_tolerances(const ContactProblem& problem, double softness, const double* lam);

std::uint64_t hash_modes(const RowMode* mode, int size);

// Modes without knowledge of the past: what approaches is held, or slides if it is fast.
void guess_modes(const ContactProblem& problem, RowMode* mode, SlideState* slides);

// A guess may be anything: modes that a row cannot have become `hold`, directions have length one, and
// numbers are finite.
void make_sense(const ContactProblem& problem, RowMode* mode, SlideState* slides, double* lam);

// Changes the modes that a soft solution contradicts, all or only the worst of them; returns how many there
// were. motion: per block, contacts known to slide however slowly, or to rest.
int update_modes(const ContactProblem& problem, double softness, const double* lam, const double* soft,
                 const std::vector<KnownMotion>& motion, bool only_worst, RowMode* mode, SlideState* slides);

// Rows of a soft solution that could as well be held, for all that tolerances tell: free ones that touch
// without a load, and friction at its bound that nothing presses against it. Holds them; returns how many.
int hold_undecided(const ContactProblem& problem, double softness, const double* lam, const double* soft,
                   const std::vector<KnownMotion>& motion, RowMode* mode, SlideState* slides);

// Directions of forces that differ by less than `turning` from those of the motion are known: rounded to
// cells, with their compliances, so that the last steps of Newton's method start from the same place wherever
// they were found. What these differ by is less than `rounded_apart`. What yields has a direction of fewer
// digits, that of soft velocities, and larger cells.
inline constexpr double turning = 1e-6, cell = 1e-4, yielding_cell = 1e-2, rounded_apart = 10.0 * cell;
void round_directions(const ContactProblem& problem, const RowMode* mode, SlideState* slides);
// Whether directions of contacts that slide or yield, or their compliances, are so near the edge of a cell
// that an error of this size may take them to either side.
bool near_edge(const ContactProblem& problem, const RowMode* mode, const SlideState* slides, double error);

// Contacts taken to yield that slide after all, and contacts taken to slide that rest; returns how many were
// found.
int mark_motion(const ContactProblem& problem, const double* sigma, double tolerance, const RowMode* mode,
                std::vector<KnownMotion>& motion);

// Contacts that hold, though biases make them move: two points of one foot that sink at different speeds. The
// one that holds least slides, from here on however slowly. False if there is none that is not known to.
bool release_weakest(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                     RowMode* mode, SlideState* slides, std::vector<KnownMotion>& motion);

// Modes of an approximate solution; those of equalities stay.
void read_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                RowMode* mode, SlideState* slides);

// Modes at impulses and soft velocities that need not fit together: where lam - soft / g lies, g =
// tr(G_ii)/dim.
void modes_at(const ContactProblem& problem, double softness, const double* lam, const double* soft,
              RowMode* mode, SlideState* slides);

// Modes by motion: a row is held if its velocity vanishes, whoever carries the load. What carries one is not
// free, though it part by the rounding errors of a solver, or by slack.
void modes_of_motion(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                     RowMode* mode);

}  // namespace articula
