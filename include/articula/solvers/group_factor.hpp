#pragma once
// Equations of rows in problems of many bodies, solved by way of what moves.
//
//   K x = r,     K = A^T G B + S
// with A, B and S block by block: of the equations of an assignment of modes, or of an interior point. The
// contacts of a pile have many more rows than its bodies have velocities, and G = W W^T (RowRoots):
//   x = S^-1 (r - A^T W z),     z = W^T B x,     H z = W^T B S^-1 r,
//   H = I + sum over blocks of  W_k^T (B S^-1 A^T)_k W_k
// H is zero between bodies that do not touch. Bodies are eliminated in an order that keeps it so (minimum
// degree), pivots are chosen within a body.
// Where S is small x has few digits: 1e-16 |G| / |S| of r are missed. Each round of refinement gains as many
// digits as there are.

#include <cstdint>
#include <span>
#include <vector>

#include "articula/contact/problem.hpp"
#include "articula/math/lu.hpp"

namespace articula {

class GroupFactor {
 public:
  void reserve(int rows, int columns, int groups);
  void forget() { matrix_ = nullptr; }
  // Whether the problem is one of many rows of few bodies.
  static bool serves(const ContactProblem& problem);
  // Of one block: S and later its inverse (count x count), A^T and B^T (count x dim), all row-major.
  struct Matrices {
    double *S, *inverse, *A, *B;
  };
  // Starts a matrix. What the problem views must live on until the last solve.
  void begin(const ContactProblem& problem);
  // The unknowns of a block, the next `count`: S, A^T and B^T, which are zero, are to be filled in at once.
  Matrices add(int block, int count);
  // False if a pivot is zero or not finite. symmetric: A = B and S symmetric, all positive definite.
  [[nodiscard]] bool factor(bool symmetric);
  // x <- K^-1 x, refined until no more than this part of it is missed, or no less can be.
  void solve(double* x, double enough = 1e-15);
  // Sign of det K = det S det H.
  double determinant_sign() const { return sign_; }

 private:
  using Word = std::uint64_t;
  struct Local {
    int block = 0, first = 0, count = 0, dim = 0;
    std::size_t at = 0;
  };
  Matrices matrices(const Local& local);
  struct Part {
    int begin = 0, width = 0;            // rows and columns of H; rows are padded to whole registers
    int next_begin = 0, next_count = 0;  // those that are eliminated later, and touch it
  };
  Word* touching(int group) { return touches_.data() + static_cast<std::size_t>(group) * words_; }
  double* row(int i) { return H_.data() + static_cast<std::size_t>(i) * stride_; }
  void order_groups();
  void find_touching(bool all);
  void list_parts();
  void assemble();
  bool eliminate_own(int part);
  void eliminate_beside(int part);
  void subtract_rows(const Part& part, int r, int s, const Part& columns);
  void solve_parts();                                        // z <- H^-1 z
  void add_motion(const Local& local, const double* lam);    // z += W^T lam of a block
  void velocities(const Local& local, double* sigma) const;  // W z
  void solve_once(const double* r, double* x);
  void subtract_product(const double* x, double* r);  // r -= K x

  std::span<const Block> blocks_;
  const RowRoots* roots_ = nullptr;
  const double* matrix_ = nullptr;  // of the order
  int words_ = 0, stride_ = 0;
  bool symmetric_ = true;
  double sign_ = 1.0;
  std::vector<Word> touches_;
  std::vector<int> order_, place_, degree_;
  std::vector<Local> locals_;
  std::vector<double> small_;
  std::vector<Part> parts_;  // in the order of elimination
  std::vector<int> next_;
  AlignedVector H_;
  std::vector<int> swap_;
  std::vector<double> inverse_pivot_;
  std::vector<double> z_, left_, more_;
  int unknowns_ = 0;
};

}  // namespace articula
