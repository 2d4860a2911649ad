#pragma once
// Lemke's method for the pyramid law: sure, and not slow. As a linear complementarity problem
//   w = M z + q >= 0,   z >= 0,   w . z = 0
// normals and limits are pairs (lam, sigma); a tangent is lam = p - m with a slack g,
//   (p, sigma + g),   (m, g - sigma),   (g, mu lam_N - p - m);
// an interval is a pair whose z = bound ± lam ends at 2 bound, where w <= 0; an equality one whose z is free.
// M is copositive, and where biases can be met the path of almost complementary solutions of
// w = M z + q + t, from large t down, ends at t = 0.

#include "articula/contact/solution.hpp"
#include "articula/math/lu.hpp"

namespace articula {

class Lemke {
 public:
  void reserve(int rows);
  // Modes of a solution (those of equalities are left as they are), and its impulses as far as the
  // perturbation tells them. False if the path leads nowhere or is too long, or the problem has too many
  // rows.
  [[nodiscard]] bool solve(const ContactProblem& problem, RowMode* mode, double* lam);
  // Where the path leads nowhere it ends in a ray: z >= 0 that grows without end, M z >= 0, z . M z = 0 and
  // q . z <= 0. Follows the path for as long as it is worth for that, and writes the loads of its ray. Of
  // cones the largest box that is inside is taken. False if it has none.
  [[nodiscard]] bool find_ray(const ContactProblem& problem, double* lam);
  int pivots() const { return pivots_; }

 private:
  enum class Part : std::uint8_t { impulse, slack };
  struct Pair {
    Part part = Part::impulse;
    int row = 0;
    double sign = 1.0;  // impulse: lam = sign z + offset
    double offset = 0.0;
    int slack = -1;     // impulse of a tangent: the pair of its slack
    int normal = -1;    // slack: the pair of lam_N
    double mu = 0.0;    // slack
    double end = 0.0;   // of z; 0: none
    bool free = false;  // equality
  };
  // The next change along the path: a row leaves, or what enters goes all the way to its end.
  struct Event {
    int row = -1;
    bool at_end = false;  // of the row's variable, or if there is no row of what enters
    bool none = true;
  };
  [[nodiscard]] bool begin(const ContactProblem& problem, bool inside_cones);
  void list_pairs(const ContactProblem& problem, bool inside_cones);
  void set_table(const ContactProblem& problem);
  void free_equalities();
  void pivot(int row, int column);
  void reflect(int pair, int row, int column);
  // From the row that is violated most; true if it ended at a solution.
  bool follow_path(int most_pivots);
  int most_violated() const;
  Event first_event(int column) const;
  int column_of(int variable) const;
  void read(const ContactProblem& problem, RowMode* mode, double* lam) const;
  double end_of(int variable) const;  // of z; infinite for the others
  double* table_row(int i) { return table_.data() + static_cast<std::size_t>(i) * stride_; }
  const double* table_row(int i) const { return table_.data() + static_cast<std::size_t>(i) * stride_; }

  std::vector<Pair> pairs_;
  std::vector<double> unit_;        // per row: lam = unit lam_scaled
  std::vector<int> basic_, other_;  // variables: w_i is i, z_i is n + i, t is 2 n
  AlignedVector table_;             // basic = last column + table other
  int n_ = 0, stride_ = 0, pivots_ = 0;
  int ray_ = -1;          // column along which nothing ends; -1: the path did not come to one
  double largest_ = 1.0;  // m/s over sqrt(mobility)
};

}  // namespace articula
