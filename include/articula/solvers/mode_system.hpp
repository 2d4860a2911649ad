#pragma once
// The equations of an assignment of modes, solved exactly; the factor is kept for derivatives.
//
// With the modes given, every law is an equation. Unknowns x are the impulses that no law fixes:
//   hold row            lam_i                           sigma_i = 0
//   pyramid, bounded    lam_t = ± mu lam_N follows N
//   cone, sliding       lam_T = mu o (-lam_N d + E y)   sigma_N = 0  and  (|w| / lam_N) y + E^T w = 0,
//                       w = mu o sigma_T, d = w / |w|, E an orthonormal basis across d
// so that lam = B x + fixed and  A^T sigma + C x = 0:  K x = -A^T (b + G fixed),  K = A^T G B + C.
// The direction d is found by Newton's method: the row for y is the linearised law, and y -> 0.
//
// K is singular where impulses are not unique (four corners of a foot). Every row therefore gives way a
// little: the laws are asked of soft velocities
//   soft = sigma + eps R (lam - centre),     R = tr(G_ii)/dim,  centre = 0
// and this is iterated away, centre <- lam, with the modes held. Soft velocities order what sigma = 0 leaves
// open: among rows that do not move, those that carry all they can (`yield`) obey
//   soft_N = mu |soft_T|   instead of   sigma_N = 0          (A = B)
// which makes lam the smallest in lam^T R lam of all admissible impulses with this motion. On cones their y
// has a compliance |soft_T| / lam_N, of order eps: it is softness, and iterated away with the rest.

#include <algorithm>
#include <array>

#include "articula/contact/solution.hpp"
#include "articula/math/lu.hpp"
#include "articula/solvers/condensed_rows.hpp"
#include "articula/solvers/elimination_order.hpp"
#include "articula/solvers/group_factor.hpp"

namespace articula {

// eps: how much a row gives way, relative to R. Directions in which G is smaller than this count as null.
inline constexpr double usual_softness = 1e-7;

// Whether a contact is known to slide, however slowly, or to stay where it is.
enum class KnownMotion : std::uint8_t { unknown, moves, rests };

// A number that no law fixes, and its equation.
struct ModeUnknown {
  int row = 0;  // its equation, and its impulse; for y: the block's normal
  int block = 0;
  int tangents = 0;         // how many of the numbers below are used; 0: a plain row
  bool across = false;      // y, with along = mu o E_j; otherwise a normal that carries lam_T = along lam_N
  double along[5] = {};     // B
  double equation[5] = {};  // A
  double compliance = 0.0;  // C
  bool yields = false;      // y of what yields: C is of the order of eps, and no part of hard laws
  double weight = 0.0;      // R
};

// The unknowns of an assignment, block after block (by number, or in the order given): those that do not
// slide first, and of these the late ones last.
void list_unknowns(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                   std::vector<ModeUnknown>& unknowns, const std::vector<bool>* late = nullptr,
                   const int* order = nullptr);
void spread(const std::vector<ModeUnknown>& unknowns, const double* x, double* lam);  // lam += B x
// B_k^T g
inline double dot_spread(const ModeUnknown& u, const double* g) {
  double sum = u.across ? 0.0 : g[u.row];
  for (int i = 0; i < u.tangents; ++i) sum += u.along[i] * g[u.row + 1 + i];
  return sum;
}
// Whether A_k = B_k: among such unknowns K is symmetric.
inline bool same_equation(const ModeUnknown& u) {
  return std::equal(u.along, u.along + u.tangents, u.equation);
}
// A_k^T sigma
inline double gather(const ModeUnknown& u, const double* sigma) {
  double sum = u.across ? 0.0 : sigma[u.row];
  for (int i = 0; i < u.tangents; ++i) sum += u.equation[i] * sigma[u.row + 1 + i];
  return sum;
}

class ModeSystem {
 public:
  // columns, groups: of RowRoots, if there are any.
  void reserve(int rows, int blocks, int columns = 0, int groups = 0);

  // Starts a solve: the problem, and impulses near which the result is to be if there are many (null: zero).
  void begin(const ContactProblem& problem, const double* centre, double softness = usual_softness);
  double softness() const { return softness_; }
  // G is another than that of the last factor. Between two problems that share it parts of factors stay.
  void forget() {
    lu_.forget();
    condensed_.forget();
    grouped_.forget();
    order_.forget();
    fixed_matrix_ = nullptr;
  }
  // Whether what slides may pull, with friction along its slip: modes that are held go on where a step would
  // let go. Otherwise normals below zero are on the way to those above.
  void let_pull(bool pulls) { pulls_ = pulls; }
  // Blocks whose unknowns come last of those that do not slide, because they may change; none: by number.
  void put_last(const std::vector<bool>* late) { late_ = late; }
  // The equations of the soft laws with modes that hold, factored. False if numbers overflow.
  [[nodiscard]] bool set_modes(const ContactProblem& problem, const RowMode* mode, const SlideState* slides);
  // What rows of no contact that are at their bounds do to velocities.
  const std::vector<double>& fix_bounds(const ContactProblem& problem, const RowMode* mode);
  // G without the rows of no contact that hold, as the factor for these modes would have it. None if they are
  // few, or numbers overflow.
  CondensedRows* condensed(const ContactProblem& problem, const RowMode* mode, const SlideState* slides);
  // One step of Newton's method on the soft laws: impulses, soft velocities, and new directions of what
  // slides or yields; `turned` is by how much forces differ from them. False if numbers overflow.
  [[nodiscard]] bool soft_step(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                               double* lam, double* soft, double& turned);
  // Such steps until directions are as exact as soft velocities tell them, with the modes held. False if
  // they do not come to rest.
  [[nodiscard]] bool settle_directions(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                       double* lam, double* soft);
  // After steps that settled, or with directions that have: what is soft iterated away.
  [[nodiscard]] bool harden(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                            bool directions_settled, double* lam, double* sigma);
  // From a solution on, the equations of modes by motion: what yields holds.
  [[nodiscard]] bool stand_still(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                                 double* lam, double* sigma);
  // All of it, from the directions in `slides`. False if Newton's method does not settle.
  [[nodiscard]] bool solve(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                           double* lam, double* sigma, const double* centre);
  // The same beside impulses that are known: directions of what slides very slowly are found only there.
  [[nodiscard]] bool solve_near(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                double* lam, double* sigma, const double* near);
  // Hard laws from the start, beside a solution that is known: lam and `slides` on entry. Where equations
  // contradict each other soft laws would have loads of order 1 / eps, and lose the directions. For modes
  // of which none yields. What no equation tells is what the smallest impulses have, or (keeps_loads) stays
  // as it was.
  [[nodiscard]] bool solve_beside(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                  double* lam, double* sigma, double softness, bool keeps_loads);
  // The same to first order: directions that turn with the slip do so by the law linearised at `slides`.
  [[nodiscard]] bool solve_linearised(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                      double* lam, double* sigma, double softness, bool keeps_loads);

  // The factor of K for a solution that is known: sliding contacts as in `slides`.
  [[nodiscard]] bool linearise(const ContactProblem& problem, const RowMode* mode, const SlideState* slides);

  // After linearise: false if some rows could carry what others do; then the factor has a proximal term.
  bool regular() const { return regular_; }

  int factorisations() const { return factorisations_; }
  // Velocities without which the last solve, which ended at sigma, would meet its equations: A^T v = A^T
  // sigma + C x.
  void missed(const double* sigma, std::vector<double>& v) const;
  // Largest |A^T sigma + C x| after the last solve, m/s.
  double equation_error() const { return equation_error_; }

  using Unknown = ModeUnknown;
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  void solve_factored(double* x) { by_groups_ ? grouped_.solve(x) : lu_.solve(x); }  // x <- K^-1 x
  // x -> lam, without what is fixed; and A^T sigma.
  void spread(const double* x, double* lam) const { articula::spread(unknowns_, x, lam); }
  double gather(const Unknown& unknown, const double* sigma) const {
    return articula::gather(unknown, sigma);
  }
  // The transposes: B^T lam, and A x.
  double gather_impulses(const Unknown& unknown, const double* lam) const { return dot_spread(unknown, lam); }
  void spread_equations(const double* x, double* sigma) const;

  // Where negative, other solutions of the laws exist (their indices add up to one).
  double determinant_sign() const {
    return by_groups_ ? grouped_.determinant_sign() : lu_.determinant_sign();
  }

 private:
  void list(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
    const int* order = GroupFactor::serves(problem) ? nullptr : order_.of(problem);
    list_unknowns(problem, mode, slides, unknowns_, late_, order);
  }
  bool factor_system(const ContactProblem& problem, double eps);
  bool factor_by_groups(const ContactProblem& problem, double eps);
  int begins_alike(const ContactProblem& problem, double eps, int symmetric, int lead);
  int condense(const ContactProblem& problem, double eps);
  void take_condensed(int lead, int kept);
  void list_mixed(const PlacedRows& from, int lead);
  void assemble(const PlacedRows& from, int lead, int kept, int symmetric, double eps);
  void start_from(const double* lam);
  // eps Q x of one unknown, Q = A^T R B + C / eps where that is of its order; rows: R B x apart from R.
  double give(const ModeUnknown& u, const double* rows, double x) const {
    return softness_ * u.weight * articula::gather(u, rows) + (u.yields ? u.compliance * x : 0.0);
  }
  void project(int rows, double* x);
  void project_purely(int rows, int times, double* x);
  void remove_null_part(int rows);
  bool nearly_null(int rows);
  void keep_range(int rows);
  bool maybe_null(int rows);
  bool solve_linear(const ContactProblem& problem, double softness, int most_rounds, double* lam,
                    double* velocity);
  bool solve_hard(const ContactProblem& problem, const RowMode* mode, double* lam, double* sigma);
  bool solve_purely(const ContactProblem& problem, double* lam, double* sigma);
  bool begin_beside(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                    const double* lam, double softness, bool keeps_loads);
  bool turn_hard(const ContactProblem& problem, const RowMode* mode, SlideState* slides, bool sliding,
                 bool fixed, double* lam, double* sigma);
  static double slowest_slip(const ContactProblem& problem, const RowMode* mode, const double* sigma);
  double close_enough(const ContactProblem& problem, const RowMode* mode, const double* sigma) const;
  bool turns_off_cone(const ContactProblem& problem, const RowMode* mode) const;
  bool return_to_cones(const ContactProblem& problem, const RowMode* mode, SlideState* slides, bool sliding,
                       double* lam, double* sigma);
  void fix_yielding_directions(const RowMode* mode);
  void scale_softness(double factor);
  static double turn_yielding(const ContactProblem& problem, const RowMode* mode, const double* lam,
                              SlideState* slides);
  double set_directions(const ContactProblem& problem, const RowMode* mode, const double* lam,
                        const double* velocity, bool also_yielding, SlideState* slides);

  std::vector<ModeUnknown> unknowns_;
  EliminationOrder order_;
  LuFactor lu_;
  GroupFactor grouped_;     // in place of it for many bodies
  bool by_groups_ = false;  // the last factor was
  // Of the last factor.
  std::vector<ModeUnknown> factored_;
  const std::vector<bool>* late_ = nullptr;
  // The unknowns of a contact that are more than a row: one, or a normal and all that is across.
  struct MixedBlock {
    int first = 0, unknowns = 1, tangents = 0;
    double along[5][8] = {};  // B by tangent and unknown, where these are several
    void multiply(const double* g, int begin, double* out) const;
  };

  std::vector<int> rows_, mixed_;  // of unknowns, and those that are more than a row
  std::vector<MixedBlock> mixed_blocks_;
  std::vector<double> columns_;  // G B of these
  CondensedRows condensed_;      // G without the unknowns that few changes of modes touch
  std::vector<CondensedRows::Leading> leading_;
  std::vector<int> others_;
  int factored_lead_ = 0;  // how many these were
  const double* factored_matrix_ = nullptr;
  double factored_softness_ = 0.0;
  std::array<std::vector<double>, 3> squared_;  // of projections
  std::vector<double> x_, kept_, step_, null_part_, combined_, centre_;
  std::vector<double> fixed_, moved_;  // impulses of rows at their bounds, and what they do to velocities
  const double* fixed_matrix_ = nullptr;
  // Of contacts that yield with directions that were not kept.
  std::vector<double> turned_lam_;
  std::vector<SlideState> turned_slides_;
  double softness_ = usual_softness;
  int factorisations_ = 0;
  bool regular_ = true, maybe_null_ = true;  // K
  bool null_known_ = true;                   // maybe_null_ is
  bool pulls_ = false;                       // what slides may
  bool shares_ = false;                      // loads as Y^T Q x = 0 says
  bool pure_ = false;                        // what is nearly null is taken for it
  double equation_error_ = 0.0;
  // Velocities that equations may miss, relative: what is next to singular moves a hundred times as much.
  double precision_ = 0.0;
};

}  // namespace articula
