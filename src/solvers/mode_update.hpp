#pragma once
// Which laws a solution of the mode equations breaks, and the modes to try next.

#include "articula/solvers/mode_system.hpp"

namespace articula {

// Errors this small, in m/s (impulses times mobility), are rounding.
double mode_tolerance(const ContactProblem& problem, const double* lam);

std::uint64_t hash_modes(const RowMode* mode, int size);

// Modes without knowledge of the past: what approaches is held, or slides if it is fast.
void guess_modes(const ContactProblem& problem, RowMode* mode);

// Changes the modes that (lam, sigma) contradict, all or only the worst of them; returns how many there were.
// A sliding contact that stands still yields in the direction kept in `slides`.
int update_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                 bool only_worst, RowMode* mode, SlideState* slides);

// Modes of an approximate solution.
void read_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                RowMode* mode, SlideState* slides);

// Directions, speeds and normals of contacts that slide.
void read_directions(const ContactProblem& problem, const double* lam, const double* sigma,
                     SlideState* slides);

// Modes by motion alone: a row is held if its velocity vanishes, whoever carries the load.
void modes_of_motion(const ContactProblem& problem, const double* sigma, double tolerance, RowMode* mode);

}  // namespace articula
