#pragma once
// A dense factor that is made once and solved with many times, in storage that is reserved beforehand:
//   P A = L U with partial pivoting, or A = U^T D^-1 U for symmetric positive definite A.
// Rows are padded to whole registers.

#include <vector>

#include "articula/math/types.hpp"
#include "articula/math/vec3.hpp"

namespace articula {

using AlignedVector = std::vector<double, Eigen::aligned_allocator<double>>;

class LuFactor {
 public:
  // Room for a matrix of `capacity` rows.
  void reserve(int capacity);

  // Starts a matrix of n rows; entries are whatever they were. Grows the storage if it was not reserved.
  void resize(int n);
  // After resize: how many rows and columns of the last factor may stay, if the new matrix begins alike.
  int reusable() const { return reusable_; }
  // The next matrix begins otherwise, whatever the last one was.
  void forget() { reusable_ = 0; }
  int size() const { return n_; }
  int stride() const { return stride_; }  // numbers from one row to the next
  double* row(int i) { return a_.data() + static_cast<std::size_t>(i) * stride_; }
  const double* row(int i) const { return a_.data() + static_cast<std::size_t>(i) * stride_; }

  // Replaces the matrix by its factors. False if a pivot is zero or not finite: nothing may be solved then.
  [[nodiscard]] bool factor();
  // The same for a symmetric positive definite matrix, of which only the upper triangle is read, in half the
  // time. False if it is not. The first `kept` rows (a multiple of four, at most reusable()) are given from
  // column `kept` on: what stands before it is the last factor. The result is the same to the bit.
  [[nodiscard]] bool factor_symmetric(int kept = 0) { return factor_symmetric(kept, 0); }
  // `done` (a multiple of four, at most `kept`): so many leading rows are factors already, with all their
  // columns, and so are the columns below them; the rest is what condense left.
  [[nodiscard]] bool factor_symmetric(int kept, int done);
  // The same if only the first `symmetric` rows and columns are so, and positive definite among themselves:
  // of these the lower triangle is not read, nor are they exchanged. False if they are not.
  [[nodiscard]] bool factor_bordered(int symmetric, int kept = 0, int done = 0);
  // Eliminates the first `lead` rows and columns (a multiple of four) of a symmetric matrix, and leaves
  // A_22 - A_21 A_11^-1 A_12 behind them (all of it); nothing may be solved. Of A the upper triangle is read,
  // and of A_22 what lies in the blocks of four by four about its diagonal. `kept` as above, at most `lead`.
  // False if the first part is not positive definite. No number depends on how many others there are.
  [[nodiscard]] bool condense(int lead, int kept);
  void solve(double* x) const;                                   // x <- A^-1 x
  void solve_transposed(double* x) const;                        // x <- A^-T x
  void solve_columns(double* x, int stride, int columns) const;  // all columns of a row-major matrix

  double pivot(int k) const { return row(k)[k]; }
  // Smallest over largest pivot: a hint of how near to singular the matrix is.
  double pivot_ratio() const { return n_ == 0 ? 1.0 : smallest_ / largest_; }
  // Sign of the determinant.
  double determinant_sign() const { return sign_; }

 private:
  void start(bool symmetric);
  bool accept_pivot(int k);
  bool eliminate_symmetric(int rows, int kept, int done);
  bool follow_kept(int rows, int kept, int first);
  bool eliminate_panel(int k, int width, int rows);
  bool keep_panel(int k, int kept, int rows);
  void complete_panel(int k, int from, int rows);
  void store_multipliers(int k, int i, int end, const Lanes (&upper)[4]);
  void eliminate_border(int k, int width, int rows);
  void scale_panel(int k, int begin, int end);
  void subtract_products(int lead);
  bool factor_from(int first);
  bool factor_panel(int k, int width);
  void subtract_panel(int k, int i, int from);
  void list_groups(int k, int first);
  void subtract_sparse_panel(int k, int begin, int end, int from, bool group);
  void subtract_whole_panel(int k, int begin, int end, int from, bool group);

  AlignedVector a_;
  std::vector<double> inverse_pivot_;
  std::vector<int> swap_;    // row that was exchanged with row k
  std::vector<int> groups_;  // of four columns, in which a panel has something
  int n_ = 0, stride_ = 0;
  int width_ = 0;     // n, padded
  int reusable_ = 0;  // leading rows of a factor without exchanges
  bool symmetric_ = false;
  double smallest_ = 0.0, largest_ = 0.0, sign_ = 1.0;
};

}  // namespace articula
