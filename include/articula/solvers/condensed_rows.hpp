#pragma once
// Rows that few changes of modes touch (joints that dry friction holds, ends of ranges, loops), eliminated
// once. With l these, and r the others,
//   S = G_rr - G_rl (G_ll + eps R)^-1 G_lr
// is all that the equations of the others need, whatever these do: while l stays, a factor costs what the
// contacts alone would.

#include <vector>

#include "articula/contact/problem.hpp"
#include "articula/math/lu.hpp"

namespace articula {

// A matrix of rows, and where in it a row of the problem stands; none: where it stands in the problem.
struct PlacedRows {
  const double* data = nullptr;
  int stride = 0, size = 0;
  const int* place = nullptr;

  const double* row(int i) const { return data + static_cast<std::size_t>(i) * stride; }
  int place_of(int row) const { return place == nullptr ? row : place[row]; }
};

// Rows of no contact, if they hold, are condensed from so many on.
inline constexpr int worth_condensing_from = 8;

class CondensedRows {
 public:
  struct Leading {
    int row = 0;
    double give = 0.0;  // eps R
    bool operator==(const Leading&) const = default;
  };

  void reserve(int rows);
  // G is another.
  void forget() { matrix_ = nullptr; }

  // Whether `leading` are eliminated already.
  bool leads_with(const ContactProblem& problem, const std::vector<Leading>& leading) const {
    return matrix_ == problem.G && leading == leading_;
  }
  bool has_place(int row) const { return place_[row] >= 0; }
  // Eliminates `leading` (a multiple of four); `others` have a place in S. What stays from the last call is
  // not computed again; every number of the result is the same to the bit, whatever that was. False if G is
  // not positive there.
  [[nodiscard]] bool set(const ContactProblem& problem, const std::vector<Leading>& leading,
                         const std::vector<int>& others);

  // Of velocities of all rows, those of the others, by place, after the leading rows came to rest.
  void follow(const double* velocity, double* others);

  PlacedRows rest() const {
    const int lead = static_cast<int>(leading_.size());
    return {factor_.row(lead) + lead, factor_.stride(), static_cast<int>(others_.size()), place_.data()};
  }
  // Of the factor: leading rows, and behind column `lead` those of G_lr, by place; of the others, by place,
  // what they take from the leading rows.
  const double* leading_row(int k) const { return factor_.row(k); }
  const double* multipliers(int place) const {
    return factor_.row(static_cast<int>(leading_.size()) + place);
  }

 private:
  void fill(const ContactProblem& problem, int kept);

  const double* matrix_ = nullptr;
  std::vector<Leading> leading_;
  std::vector<int> others_, place_, all_;
  std::vector<double> eliminated_;
  LuFactor factor_;  // of the leading rows, and S behind them
};

}  // namespace articula
