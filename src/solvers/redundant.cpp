#include "redundant.hpp"

#include <cmath>

namespace articula {

namespace {

constexpr double independent = 1e-9;  // of G, relative to tr(G_ii)/dim

}  // namespace

// Cholesky's factor of G over the equalities, the row with the largest remainder next:
//   remainder_i = G_ii - sum_k L_ik^2
int free_redundant_equalities(const ContactProblem& problem, std::vector<double>& work, RowMode* mode) {
  int count = 0;
  for (const Block& block : problem.blocks) count += block.kind == BlockKind::equality ? block.dim : 0;
  if (count == 0) return 0;
  // Per row: its number in the problem, mobility, remainder, and its row of L.
  const int stride = 3 + count;
  work.assign(static_cast<std::size_t>(count) * stride, 0.0);
  int at = 0;
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::equality) continue;
    for (int i = block.first; i < block.first + block.dim; ++i, ++at) {
      work[at * stride] = i;
      work[at * stride + 1] = problem.mobility(block);
      work[at * stride + 2] = problem.g(i, i);
      mode[i] = RowMode::free;
    }
  }
  for (int k = 0; k < count; ++k) {
    int next = -1;
    double largest = independent;
    for (int i = 0; i < count; ++i) {
      const double* row = &work[i * stride];
      const bool open = mode[static_cast<int>(row[0])] == RowMode::free;
      if (!open || row[2] <= largest * row[1]) continue;
      largest = row[2] / row[1];
      next = i;
    }
    if (next < 0) return count - k;
    const double* pivot = &work[next * stride];
    const int pivot_row = static_cast<int>(pivot[0]);
    const double root = std::sqrt(pivot[2]);
    mode[pivot_row] = RowMode::hold;
    for (int i = 0; i < count; ++i) {
      double* row = &work[i * stride];
      double entry = problem.g(static_cast<int>(row[0]), pivot_row);
      for (int j = 0; j < k; ++j) entry -= row[3 + j] * pivot[3 + j];
      row[3 + k] = entry / root;
      row[2] -= row[3 + k] * row[3 + k];
    }
  }
  return 0;
}

}  // namespace articula
