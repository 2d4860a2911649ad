#pragma once
// The laws of an island's rows, linearised at a solution (modes fixed).
//
// With dsigma = G dlam + c, each row's law is one linear equation with a right-hand side rho:
//   hold                 dsigma = rho
//   free, at a bound     dlam = rho
//   pyramid, bounded     dlam_t -+ mu dlam_N = rho
//   sliding              dlam_T + mu o d dlam_N + (lam_N / |w|) mu o P (mu o dsigma_T) = rho,   P = 1 - d d^T
// A contact that yields stands still, whoever carries the load: it holds. `solve` finds dlam, and
// `solve_transposed` takes a covector of dlam back to those of c and rho.
//
// Where nothing slides the matrix is that of the held rows in G, symmetric. Rows that depend on others (four
// corners of a foot) are found by pivoting and left out: their impulses are a matter of choice, and the
// motion is not.

#include "articula/solvers/mode_system.hpp"
#include "pivoted_factor.hpp"

namespace articula {

class LawSystem {
 public:
  // False if the equations have no factor; then nothing may be solved.
  [[nodiscard]] bool prepare(const ContactProblem& problem, const RowMode* mode, const double* lam,
                             const double* sigma);

  void solve(const double* c, const double* rho, double* dlam);
  void solve_transposed(const double* lam_bar, double* c_bar, double* rho_bar);

  // Many columns at once, row-major with `stride` (and as many columns): on entry dsigma at dlam = 0, all of
  // it, on return dlam.
  void solve_columns(double* rows, int stride);

  // rho -= (law by sigma) dsigma: what an explicit change of sigma leaves on the right-hand sides;
  // transposed.
  void add_explicit(const double* dsigma, double* rho) const;
  void add_explicit_transposed(const double* rho_bar, double* sigma_bar) const;

  const RowMode* mode() const { return mode_.data(); }
  const SlideState& slide(int block) const { return slides_[block]; }
  // Largest |K x - rhs| of the last solve relative to |rhs|: large where the right-hand side is out of range.
  double inconsistency() const { return inconsistency_; }
  bool regular() const { return symmetric_ ? held_.rank() == held_.size() : system_.regular(); }
  // Some friction is at its bound: how redundant contacts share the load then matters to the motion.
  bool slides() const;
  int unknowns() const { return static_cast<int>(unknowns_->size()); }
  int rank() const;  // by the pivots
  double conditioning() const { return symmetric_ ? held_.pivot_ratio() : system_.factor().pivot_ratio(); }

 private:
  void solve_unknowns(bool transposed);
  void list_active_rows();
  void spread_columns(double* rows, int stride) const;

  bool hold_rows();
  void solve_held();
  void note_inconsistency(int columns);
  void spread_equations(const double* x, double* sigma) const;

  ContactProblem problem_;
  std::vector<int> active_rows_;
  ModeSystem system_;   // where something slides
  PivotedFactor held_;  // where nothing does
  bool symmetric_ = false;
  std::vector<ModeUnknown> rows_held_;
  std::vector<int> idle_;  // held tangents along which nothing can move (out of the plane of a planar robot)
  const std::vector<ModeUnknown>* unknowns_ = nullptr;
  std::vector<RowMode> mode_;
  std::vector<SlideState> slides_;
  std::vector<double> rhs_, x_, step_, rows_, more_rows_;
  std::vector<double> right_, solution_, correction_,
      product_;  // of solve_columns: unknowns x columns, rows x columns
  double inconsistency_ = 0.0;
};

}  // namespace articula
