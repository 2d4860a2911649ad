#pragma once
// Solves a contact problem under either law (docs/solvers.md):
//   1. guess the modes (those of a warm start, or from the velocities), solve them exactly, verify;
//   2. change the modes that were contradicted, and again, while no assignment repeats; from a warm start
//   also
//      along a path of problems between one that the guess solves and the one given;
//   3. find modes by the pivoting of Dantzig and Lemke, by friction that dilates, by Gauss-Seidel, by an
//      interior point and along its central path; pivot again from there;
//   4. if nothing verifies, refine the best impulses found: multiple if they obey the laws, or inexact.
// The result of a verified assignment depends on problem and modes alone.

#include "articula/solvers/contacts_alone.hpp"
#include "articula/solvers/continuation.hpp"
#include "articula/solvers/dantzig.hpp"
#include "articula/solvers/dilating.hpp"
#include "articula/solvers/interior_point.hpp"
#include "articula/solvers/lemke.hpp"
#include "articula/solvers/mode_system.hpp"

namespace articula {

// A solution of the soft laws, in which nothing was contradicted.
struct SoftSolution {
  bool known = false;
  std::vector<RowMode> mode;
  std::vector<SlideState> slides;
  std::vector<double> lam, velocity;
};

// A solution, to come back to.
struct Settled {
  SolveReport report;
  std::vector<RowMode> mode, guess;
  std::vector<SlideState> slides;
  std::vector<double> lam, sigma;
};

struct ContactSolver {
  // columns, groups: of RowRoots, if there are any.
  void reserve(int rows, int blocks, int columns = 0, int groups = 0);

  ModeSystem system;
  ContactsAlone contacts_alone;
  SoftSolution soft;
  Settled settled, found;
  Continuation continuation;
  Dantzig dantzig;
  DilatingFriction dilating;
  InteriorPoint interior_point;
  Lemke lemke;
  std::vector<std::uint64_t> seen;
  std::vector<Block> blocks;               // where a coefficient of friction had to be raised above zero
  std::vector<double> balance;             // loads of rows whose biases contradict each other
  std::vector<double> compliant, relaxed;  // G + eps R, and b with slack, where biases contradict each other
  std::vector<double> start, trial, trial_sigma, between, between_sigma, approximate, dilated;
  std::vector<double> still, still_sigma;  // a solution without the motion of what yields
  std::vector<double> kept;                // impulses to come back to, within a search
  std::vector<double> best_so_far;         // to fall back on, while another problem is searched
  std::vector<RowMode> still_mode;
  std::vector<RowMode> first;            // the guess
  std::vector<SlideState> first_slides;  // and its directions
  std::vector<KnownMotion> motion;       // per block, of contacts
  std::vector<bool> moves;               // known to slide, or so fast that there is no doubt
};

// Where to begin: modes (one for each row), and for contacts that slide or yield the directions (one for each
// block). Written with what to guess next time.
struct Guess {
  RowMode* mode = nullptr;
  SlideState* slides = nullptr;
};

// guess, and lam (impulses to start from): read only if `warm`. mode, lam, sigma (size): results. thorough:
// looks for other motions that obey the laws as well, and says `multiple` if there is one.
SolveReport solve_contact(const ContactProblem& problem, ContactSolver& work, bool warm, const Guess& guess,
                          RowMode* mode, double* lam, double* sigma, bool thorough = false);

}  // namespace articula
