#pragma once
// The equations of an assignment of modes, solved exactly; the factor is kept for derivatives.
//
// With the modes given, every law is an equation. Unknowns x are the impulses that no law fixes:
//   hold row            lam_i                           sigma_i = 0
//   pyramid, bounded    lam_t = ± mu lam_N follows N
//   cone, sliding       lam_T = mu o (-lam_N d + E y)   sigma_N = 0  and  (|w| / lam_N) y + E^T w = 0,
//                       w = mu o sigma_T, d = w / |w|, E an orthonormal basis across d
// so that lam = B x + fixed and  A^T sigma + C x = 0:  K x = -A^T (b + G fixed),  K = A^T G B + C.
// The sliding direction d is found by Newton's method: the row for y is the linearised law, and y -> 0. It
// starts from the velocities without friction, so that the result depends on problem and modes alone.
//
// K is singular where impulses are not unique (four corners of a foot). A proximal term makes it regular,
//   (K + eps R) dx = -(residual at x),    x += dx,    R = tr(G_ii)/dim,
// and is iterated away: from x = 0 this converges to the solution with the smallest x^T R x if K is
// symmetric.

#include "articula/contact/solution.hpp"
#include "articula/math/lu.hpp"

namespace articula {

// A number that no law fixes, and its equation.
struct ModeUnknown {
  int row = 0;  // its equation, and its impulse; for y: the block's normal
  int block = 0;
  int tangents = 0;     // how many of the numbers below are used; 0: a plain row
  bool across = false;  // y, with along = mu o E_j; otherwise a normal that carries lam_T = along lam_N
  double along[5] = {};
  double compliance = 0.0;  // C
  double weight = 0.0;      // R
};

// The unknowns of an assignment, in the order of the rows. Sliding contacts have no tangents, and no
// friction, as long as directions are not known.
void list_unknowns(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                   bool directions_known, std::vector<ModeUnknown>& unknowns);
void spread(const std::vector<ModeUnknown>& unknowns, const double* x, double* lam);  // lam += B x
double dot_spread(const ModeUnknown& unknown, const double* g);                       // B_k^T g
double gather(const ModeUnknown& unknown, const double* sigma);                       // A_k^T sigma

class ModeSystem {
 public:
  void reserve(int rows, int blocks);

  // False if Newton's method does not settle or numbers overflow. slides: per block; read for yielding
  // contacts (d), written for sliding ones. `start` (impulses; then slides are read for sliding contacts too)
  // is where the iteration begins: of many solutions the result is one near it.
  [[nodiscard]] bool solve(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                           double* lam, double* sigma, const double* start = nullptr);

  // The factor of K for a solution that is known: sliding contacts as in `slides`.
  [[nodiscard]] bool linearise(const ContactProblem& problem, const RowMode* mode, const SlideState* slides);

  // After linearise: false if some rows could carry what others do; then the factor has a proximal term.
  bool regular() const { return regular_; }

  int factorisations() const { return factorisations_; }
  // Largest |A^T sigma + C x| after the last solve, m/s.
  double equation_error() const { return equation_error_; }

  using Unknown = ModeUnknown;
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  const LuFactor& factor() const { return lu_; }
  // x -> lam, without what is fixed; and A^T sigma.
  void spread(const double* x, double* lam) const { articula::spread(unknowns_, x, lam); }
  double gather(const Unknown& unknown, const double* sigma) const {
    return articula::gather(unknown, sigma);
  }
  // The transposes: B^T lam, and A x.
  double gather_impulses(const Unknown& unknown, const double* lam) const { return dot_spread(unknown, lam); }
  void spread_equations(const double* x, double* sigma) const;

  // Whether some x with K x = 0 exists, to rounding: then impulses are not unique.
  bool singular() const;
  // Whether K is symmetric: then a solution from zero is the smallest one.
  bool symmetric() const { return symmetric_; }
  // Where negative, other solutions of the laws exist (their indices add up to one).
  double determinant_sign() const { return lu_.determinant_sign(); }

 private:
  bool factor_system(const ContactProblem& problem, double eps, bool may_be_symmetric);
  bool solve_linear(const ContactProblem& problem, int most_corrections, const double* start, double* lam,
                    double* sigma);
  double set_directions(const ContactProblem& problem, const RowMode* mode, const double* lam,
                        const double* sigma, SlideState* slides, bool first);

  std::vector<ModeUnknown> unknowns_;
  LuFactor lu_;
  std::vector<double> x_, step_, combined_, fixed_;
  bool symmetric_ = true;
  int factorisations_ = 0;
  bool regular_ = true;
  double equation_error_ = 0.0;
};

}  // namespace articula
