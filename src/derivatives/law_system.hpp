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
// K dx = rho over the unknowns of mode_system.hpp is singular where rows depend on others (four corners of a
// foot). With Z and Y its null spaces, K Z = 0 and Y^T K = 0, and Q = A^T R B what the step's softness asks
// of impulses, H = Y^T Q Z:
//   rho is made consistent with least slack       rho <- rho - Q Z H^-1 Y^T rho
//   the part that is a matter of choice stays     dx  <- dx - Z H^-1 Y^T Q dx
// as the step does with its modes held. What nothing slides on moves alike whoever carries the load.
//
// Tangents of a planar robot's contact (law_plane.cpp) are dependent from the start: of two that hold and see
// the same motion, J_2 = ratio J_1, one unknown with the impulses (1, ratio) is left, and one along which
// nothing can move is left out. What remains to be asked of them are sigma_2 = ratio sigma_1, sigma = 0.

#include <optional>

#include "articula/solvers/mode_system.hpp"
#include "rank_factor.hpp"

namespace articula {

class LawSystem {
 public:
  // False if the equations have no factor; then nothing may be solved. Soft laws (softness > 0, lam and sigma
  // of their solution) are those of G + softness R; contacts that yield then follow their cone.
  [[nodiscard]] bool prepare(const ContactProblem& problem, const RowMode* mode, const double* lam,
                             const double* sigma, double softness = 0.0);
  // As prepare, of laws that only products are asked of (add_explicit, against): nothing may be solved.
  void linearise(const ContactProblem& problem, const RowMode* mode, const double* lam, const double* sigma,
                 double softness = 0.0);

  void solve(const double* c, const double* rho, double* dlam);
  void solve_transposed(const double* lam_bar, double* c_bar, double* rho_bar);

  // Many columns at once, row-major (columns: a multiple of four): on entry dsigma at dlam = 0 of the rows
  // that are in equations, on return dlam of those that carry something.
  void solve_columns(double* rows, int columns);
  void mark_rows(char* in_equations, char* carries) const;

  // rho -= (law by sigma) dsigma: what an explicit change of sigma leaves on the right-hand sides;
  // transposed.
  void add_explicit(const double* dsigma, double* rho) const;
  void add_explicit_transposed(const double* rho_bar, double* sigma_bar) const;

  // Where friction is at its bound on redundant contacts, how they share the load matters to the motion.
  // Finds the ways in which it could be shared otherwise, and returns how many there are: null vectors of K
  // that involve what slides, free of those that do not (in the metric of Q); or all null vectors, if there
  // are such.
  int find_choices(bool all = false);
  int choices() const {
    return unknowns_.empty() ? 0 : static_cast<int>(choice_z_.size() / unknowns_.size());
  }
  void choice_impulses(int choice, double* lam) const;                // B z, added
  void choice_covectors(int choice, double* c_bar, double* rho_bar);  // of solve_transposed, for y
  // A contact that stands still has friction at its bound: in which direction it gives way is not known.
  bool turns_yielding() const { return yields_; }
  // sigma_bar, lam_bar += (law by sigma, by lam)^T rho_bar
  void against(const double* rho_bar, double* sigma_bar, double* lam_bar) const;
  double softness(int block) const { return problem_.mobility(problem_.blocks[block]); }  // R
  const ContactProblem& problem() const { return problem_; }

  // Tangents that were left out, and what is then asked of velocities: sigma[row] - ratio sigma[row - 1] = 0.
  struct LeftOut {
    int row = 0, normal = 0;
    double ratio = 0.0;  // 0: nothing moves along it
  };
  const std::vector<LeftOut>& left_out() const { return left_out_; }

  const RowMode* mode() const { return mode_.data(); }
  const SlideState& slide(int block) const { return slides_[block]; }
  // sigma += a combination of Y, spread over the rows; after a solve.
  void null_covector(double* sigma);
  void null_covectors(double* c_bar, double* rho_bar);  // the same, as solve_transposed returns covectors
  // Largest |K x - rhs| of the last solve relative to |rhs|: large where the right-hand side is out of range.
  // Negative if nothing but transposed systems has been solved yet.
  double inconsistency() const { return inconsistency_; }
  void note_inconsistency(double inconsistency) { inconsistency_ = inconsistency; }
  bool regular() const { return factor_.rank() == factor_.size(); }
  // Velocity that rows which hold were granted because their biases contradict each other, relative to all.
  double slack() const { return slack_; }
  // Slack, relative to the velocities of the island, changes in proportion to itself, and the more the nearer
  // rows are to depend on others (least_slack.cpp): dy = -G^+ J Mhat^-1 dJ^T y. Less than this the state does
  // not feel, which moves rows by 1 / h; parameters may move them by little.
  bool grants_slack(bool with_parameters) const {
    return !keeps_loads_ && !regular() &&
           std::max(slack_, sliding_slack_) > (with_parameters ? 1e-14 : 1e-10 * conditioning());
  }
  // What slides was granted some of it.
  bool slack_slides() const { return sliding_slack_ > std::max(1e-4 * slack_, 1e-13); }
  // Whether y moves nothing, G y = 0: elsewhere the slack is not the least (a contact that yields gives way
  // along its cone, sigma_N = mu |sigma_T|), and does not follow the weights.
  bool slack_is_least() const { return least_; }
  // y of sigma = -R y for rows that hold (least_slack.cpp), with the friction that slides along under the
  // pyramid law, and R of a row.
  void slack_impulses(const double* sigma, double* y) const;
  double weight(int row) const;
  // Some friction is at its bound: how redundant contacts share the load then matters to the motion.
  bool slides() const;
  // How loads are shared, and what slack was granted, stays as it is (FrozenModes::Entry::keeps_loads).
  void keep_loads() { keeps_loads_ = true; }
  bool keeps_loads() const { return keeps_loads_; }
  // Only of such is it asked.
  bool may_keep_loads() const { return !regular() && (yields_ || std::max(slack_, sliding_slack_) > 1e-12); }
  int unknowns() const { return static_cast<int>(unknowns_.size()); }
  int rank() const { return factor_.rank(); }
  double conditioning() const { return factor_.pivot_ratio(); }

 private:
  bool factor(double tolerance);
  void soften_problem(double softness);
  void leave_out_tangents(const double* lam);
  // Two tangents in one.
  bool joined(const ModeUnknown& u) const {
    return !u.across && u.tangents > 0 && u.row != problem_.blocks[u.block].first;
  }
  // Its slack is -R x: rows that hold, and normals under the pyramid law, whose friction follows.
  bool tells_slack(const ModeUnknown& u) const {
    return u.tangents == 0 || (problem_.law == FrictionLaw::pyramid && !joined(u));
  }
  void find_yielding(const double* lam);
  bool slack_moves_nothing(const double* sigma);
  void find_null_spaces();
  void find_choice_matrix();
  double sliding_share(const double* z) const;
  void soften_all(const std::vector<double>& vectors, bool transposed, std::vector<double>& result);
  const std::vector<double>& softened_ways();  // Q Z
  void combine_null_covectors();               // into x_
  void make_consistent(double* x, int columns);
  void make_consistent_transposed(double* x);
  void keep_choice(double* x, int columns);
  void keep_choice_transposed(double* x);
  void keep_moving_choice(double* x, int columns);
  void remove_part(const std::vector<double>& along, const std::vector<double>& against, bool transposed,
                   double* x, int columns);
  void note_inconsistency(const double* x, int columns);
  void spread_equations(const double* x, double* sigma) const;
  void add_explicit_rows(const double* dsigma, double* rho) const;
  void take_back(const double* lam_bar, double* c_bar, double* rho_bar);
  int put_sliding_first(std::vector<double>& vectors) const;
  void soften(const double* x, bool transposed, double* result);

  ContactProblem problem_;
  AlignedVector soft_G_;    // of soft laws
  RankFactor factor_;       // of K
  bool symmetric_ = false;  // nothing slides
  bool yields_ = false;
  bool least_ = false;  // the slack of rows that hold
  bool keeps_loads_ = false;
  std::vector<ModeUnknown> unknowns_;
  std::vector<LeftOut> left_out_;
  std::vector<RowMode> mode_;
  std::vector<SlideState> slides_;
  std::vector<double> x_, rows_, combined_, part_;
  AlignedVector right_;  // of solve_columns: unknowns x columns
  std::vector<const double*> pointers_;
  std::vector<double> along_;
  // Found when first needed, n numbers for each dependent row: Z and Y; Q Z, Q^T Y and H, empty until then.
  bool null_spaces_found_ = false;
  double sliding_share_ = 0.0;  // the largest of all Z
  std::vector<double> Z_, Y_, QZ_, QY_;
  RankFactor H_;
  std::optional<bool> choices_found_;        // whether all were asked for
  std::vector<double> choice_z_, choice_y_;  // n numbers for each choice
  double inconsistency_ = -1.0, slack_ = 0.0, sliding_slack_ = 0.0;
};

}  // namespace articula
