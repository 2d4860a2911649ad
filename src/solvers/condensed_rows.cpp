#include "articula/solvers/condensed_rows.hpp"

#include <algorithm>

#include "articula/math/strips.hpp"

namespace articula {

void CondensedRows::reserve(int rows) {
  leading_.reserve(rows);
  others_.reserve(rows);
  place_.reserve(rows);
  all_.reserve(rows);
  factor_.reserve(rows);
  eliminated_.reserve(rows);
}

// The upper triangle, by groups of four columns; of the first `kept` rows only what is not a factor already.
void CondensedRows::fill(const ContactProblem& problem, int kept) {
  const int lead = static_cast<int>(leading_.size()), n = static_cast<int>(all_.size());
  for (int k = 0; k < n; ++k) {
    const double* from = problem.row(all_[k]);
    double* to = factor_.row(k);
    const int first = std::max(k / 4 * 4, kept);
    for (int w = first; w < n; ++w) to[w] = from[all_[w]];
    if (k >= kept && k < lead) to[k] += leading_[k].give;
  }
}

bool CondensedRows::set(const ContactProblem& problem, const std::vector<Leading>& leading,
                        const std::vector<int>& others) {
  const bool same_matrix = matrix_ == problem.G;
  const int lead = static_cast<int>(leading.size()), m = static_cast<int>(others.size());
  int alike = 0;
  const int most = same_matrix ? std::min(lead, static_cast<int>(leading_.size())) : 0;
  while (alike < most && leading[alike] == leading_[alike]) ++alike;
  matrix_ = nullptr;
  leading_.assign(leading.begin(), leading.end());
  others_.assign(others.begin(), others.end());
  all_.clear();
  for (const Leading& row : leading) all_.push_back(row.row);
  all_.insert(all_.end(), others.begin(), others.end());
  place_.assign(problem.size, -1);
  for (int i = 0; i < m; ++i) place_[others[i]] = i;

  if (!same_matrix) factor_.forget();
  factor_.resize(lead + m);
  const int kept = std::min(alike / 4 * 4, factor_.reusable());
  fill(problem, kept);
  if (!factor_.condense(lead, kept)) return false;
  matrix_ = problem.G;
  return true;
}

// L_ll y = b_l, then b_r - L_rl y
void CondensedRows::follow(const double* velocity, double* others) {
  const int lead = static_cast<int>(leading_.size());
  eliminated_.resize(lead);
  for (int k = 0; k < lead; ++k)
    eliminated_[k] = velocity[leading_[k].row] - strip_dot(factor_.row(k), eliminated_.data(), k);
  for (std::size_t i = 0; i < others_.size(); ++i)
    others[i] = velocity[others_[i]] - strip_dot(multipliers(static_cast<int>(i)), eliminated_.data(), lead);
}

}  // namespace articula
