#include "articula/solvers/group_factor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr int word_bits = 64;
constexpr int widest_block = 6;  // rows of a block

int to_lanes(int n) { return (n + 3) / 4 * 4; }

// A (small, row-major) becomes its inverse; false if it has none. Gauss and Jordan, with pivots from anywhere
// in a column. Multiplies `sign` by that of the determinant.
bool invert_block(double* a, int n, double& sign) {
  int swapped[widest_block];
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    }
    swapped[k] = best;
    if (best != k) {
      std::swap_ranges(a + k * n, a + k * n + n, a + best * n);
      sign = -sign;
    }
    const double pivot = a[k * n + k];
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
    if (pivot < 0.0) sign = -sign;
    const double inverse = 1.0 / pivot;
    a[k * n + k] = 1.0;
    for (int j = 0; j < n; ++j) a[k * n + j] *= inverse;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = std::exchange(a[i * n + k], 0.0);
      for (int j = 0; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    if (swapped[k] == k) continue;
    for (int i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + swapped[k]]);
  }
  return true;
}

}  // namespace

bool GroupFactor::serves(const ContactProblem& problem) {
  return problem.roots != nullptr && problem.roots->columns() < problem.size;
}

void GroupFactor::reserve(int rows, int columns, int groups) {
  const std::size_t words = static_cast<std::size_t>(groups + word_bits - 1) / word_bits;
  const std::size_t width = static_cast<std::size_t>(columns) + 3 * groups;
  touches_.reserve(groups * words);
  for (std::vector<int>* vector : {&order_, &place_, &degree_}) vector->reserve(groups);
  locals_.reserve(rows);
  small_.reserve(static_cast<std::size_t>(rows) * 4 * widest_block);
  parts_.reserve(groups);
  next_.reserve(static_cast<std::size_t>(groups) * groups);
  H_.reserve(width * width);
  swap_.reserve(width);
  inverse_pivot_.reserve(width);
  z_.reserve(width);
  left_.reserve(rows);
  more_.reserve(rows);
}

GroupFactor::Matrices GroupFactor::matrices(const Local& local) {
  double* S = small_.data() + local.at;
  const int square = local.count * local.count;
  return {S, S + square, S + 2 * square, S + 2 * square + local.count * local.dim};
}

// By blocks that have unknowns, or by all of them.
void GroupFactor::find_touching(bool all) {
  words_ = (roots_->groups() + word_bits - 1) / word_bits;
  touches_.assign(static_cast<std::size_t>(roots_->groups()) * words_, 0);
  const auto join = [&](int block) {
    const int a = roots_->blocks[block][0].group, b = roots_->blocks[block][1].group;
    if (a < 0 || b < 0 || a == b) return;
    touching(a)[b / word_bits] |= Word{1} << (b % word_bits);
    touching(b)[a / word_bits] |= Word{1} << (a % word_bits);
  };
  for (const Local& local : locals_) {
    if (!all) join(local.block);
  }
  for (int k = 0; all && k < static_cast<int>(blocks_.size()); ++k) join(k);
}

// Minimum degree; of several the first.
void GroupFactor::order_groups() {
  const int n = roots_->groups();
  find_touching(true);
  order_.clear();
  place_.assign(n, -1);
  degree_.resize(n);
  const auto count = [&](int group) {
    int columns = 0;
    for (int w = 0; w < words_; ++w) {
      for (Word left = touching(group)[w]; left != 0; left &= left - 1)
        columns += roots_->width(w * word_bits + std::countr_zero(left));
    }
    return columns;
  };
  for (int k = 0; k < n; ++k) degree_[k] = count(k);
  for (int step = 0; step < n; ++step) {
    int next = -1;
    for (int k = 0; k < n; ++k) {
      if (place_[k] < 0 && (next < 0 || degree_[k] < degree_[next])) next = k;
    }
    place_[next] = step;
    order_.push_back(next);
    const Word* mine = touching(next);
    for (int w = 0; w < words_; ++w) {
      for (Word left = mine[w]; left != 0; left &= left - 1) {
        const int other = w * word_bits + std::countr_zero(left);
        Word* theirs = touching(other);
        for (int v = 0; v < words_; ++v) theirs[v] |= mine[v];
        theirs[other / word_bits] &= ~(Word{1} << (other % word_bits));
        theirs[next / word_bits] &= ~(Word{1} << (next % word_bits));
        degree_[other] = count(other);
      }
    }
  }
}

// Who is beside whom, once those before them are eliminated.
void GroupFactor::list_parts() {
  find_touching(false);
  parts_.clear();
  next_.clear();
  int begin = 0;
  for (int group : order_) {
    parts_.push_back({begin, roots_->width(group), 0, 0});
    begin += to_lanes(roots_->width(group));
  }
  stride_ = begin;
  for (std::size_t p = 0; p < order_.size(); ++p) {
    const Word* mine = touching(order_[p]);
    Part& part = parts_[p];
    part.next_begin = static_cast<int>(next_.size());
    for (int w = 0; w < words_; ++w) {
      for (Word left = mine[w]; left != 0; left &= left - 1) {
        const int other = w * word_bits + std::countr_zero(left);
        if (place_[other] > static_cast<int>(p)) next_.push_back(place_[other]);
      }
    }
    part.next_count = static_cast<int>(next_.size()) - part.next_begin;
    std::sort(next_.begin() + part.next_begin, next_.end());
    for (int i = part.next_begin; i < static_cast<int>(next_.size()); ++i) {
      Word* theirs = touching(order_[next_[i]]);
      for (int v = 0; v < words_; ++v) theirs[v] |= mine[v];
      const int self = order_[next_[i]];
      theirs[self / word_bits] &= ~(Word{1} << (self % word_bits));
    }
  }
}

void GroupFactor::begin(const ContactProblem& problem) {
  blocks_ = problem.blocks;
  roots_ = problem.roots;
  unknowns_ = 0;
  locals_.clear();
  small_.clear();
  if (matrix_ == problem.G) return;
  order_groups();
  matrix_ = problem.G;
}

GroupFactor::Matrices GroupFactor::add(int block, int count) {
  const int dim = blocks_[block].dim;
  locals_.push_back({block, unknowns_, count, dim, small_.size()});
  small_.resize(small_.size() + 2 * count * (count + dim), 0.0);
  unknowns_ += count;
  return matrices(locals_.back());
}

// H = I + sum of W_k^T Q W_k,  Q = B S^-1 A^T
void GroupFactor::assemble() {
  H_.resize(static_cast<std::size_t>(stride_) * stride_);
  for (const Part& part : parts_) {
    const auto clear = [&](int rows, int height, int columns, int width) {
      for (int i = 0; i < height; ++i) std::fill_n(row(rows + i) + columns, to_lanes(width), 0.0);
    };
    clear(part.begin, part.width, part.begin, part.width);
    for (int i = 0; i < part.width; ++i) row(part.begin + i)[part.begin + i] = 1.0;
    for (int i = 0; i < part.next_count; ++i) {
      const Part& next = parts_[next_[part.next_begin + i]];
      clear(part.begin, part.width, next.begin, next.width);
      clear(next.begin, next.width, part.begin, part.width);
    }
  }
  for (const Local& local : locals_) {
    const int dim = local.dim, count = local.count;
    const auto [S, inverse, A, B] = matrices(local);
    double Q[widest_block][widest_block] = {};
    for (int i = 0; i < count; ++i) {
      double pulled[widest_block] = {};  // row i of S^-1 A^T
      for (int j = 0; j < count; ++j) {
        for (int c = 0; c < dim; ++c) pulled[c] += inverse[i * count + j] * A[j * dim + c];
      }
      for (int r = 0; r < dim; ++r) {
        for (int c = 0; c < dim; ++c) Q[r][c] += B[i * dim + r] * pulled[c];
      }
    }
    for (const RowRoots::Side& right : roots_->blocks[local.block]) {
      if (right.group < 0) continue;
      const int width = roots_->width(right.group), column = parts_[place_[right.group]].begin;
      for (const RowRoots::Side& left : roots_->blocks[local.block]) {
        if (left.group < 0) continue;
        const int height = roots_->width(left.group), first = parts_[place_[left.group]].begin;
        for (int i = 0; i < height; ++i) {
          double weights[widest_block] = {};  // row i of W_k^T Q
          for (int r = 0; r < dim; ++r) {
            const double w = left.W[r * height + i];
            if (w == 0.0) continue;
            for (int c = 0; c < dim; ++c) weights[c] += w * Q[r][c];
          }
          double* to = row(first + i) + column;
          for (int c = 0; c < dim; ++c) strip_add(to, right.W + c * width, weights[c], width);
        }
      }
    }
  }
}

// L U of the part's own rows and columns.
bool GroupFactor::eliminate_own(int p) {
  const Part& part = parts_[p];
  const int begin = part.begin, width = part.width;
  for (int k = begin; k < begin + width; ++k) {
    swap_[k] = k;
    if (!symmetric_) {
      for (int i = k + 1; i < begin + width; ++i) {
        if (std::abs(row(i)[k]) > std::abs(row(swap_[k])[k])) swap_[k] = i;
      }
      if (swap_[k] != k) {
        sign_ = -sign_;
        std::swap_ranges(row(k) + begin, row(k) + begin + to_lanes(width), row(swap_[k]) + begin);
        for (int n = 0; n < part.next_count; ++n) {
          const Part& next = parts_[next_[part.next_begin + n]];
          double* from = row(k) + next.begin;
          std::swap_ranges(from, from + to_lanes(next.width), row(swap_[k]) + next.begin);
        }
      }
    }
    const double pivot = row(k)[k];
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot) || (symmetric_ && pivot < 0.0)) return false;
    if (pivot < 0.0) sign_ = -sign_;
    inverse_pivot_[k] = 1.0 / pivot;
    for (int i = k + 1; i < begin + width; ++i) {
      const double factor = row(i)[k] *= inverse_pivot_[k];
      if (factor == 0.0) continue;
      for (int j = k + 1; j < begin + width; ++j) row(i)[j] -= factor * row(k)[j];
      for (int n = 0; n < part.next_count; ++n) {
        const Part& next = parts_[next_[part.next_begin + n]];
        strip_add(row(i) + next.begin, row(k) + next.begin, -factor, to_lanes(next.width));
      }
    }
  }
  return true;
}

// Two rows (or one) of the columns of a part, less their multiples of the eliminated part's rows.
void GroupFactor::subtract_rows(const Part& part, int r, int s, const Part& columns) {
  double *first = row(r), *second = row(s);
  for (int j = columns.begin; j < columns.begin + to_lanes(columns.width); j += 4) {
    Lanes x = load_lanes(first + j), y = load_lanes(second + j);
    for (int k = part.begin; k < part.begin + part.width; ++k) {
      const Lanes u = load_lanes(row(k) + j);
      x = x - broadcast(first[k]) * u;
      y = y - broadcast(second[k]) * u;
    }
    store_lanes(first + j, x);
    store_lanes(second + j, y);
  }
}

// Multipliers of the rows of parts that touch this one, and what these take from it.
void GroupFactor::eliminate_beside(int p) {
  const Part& part = parts_[p];
  const int begin = part.begin, width = part.width;
  for (int n = 0; n < part.next_count; ++n) {
    const Part& below = parts_[next_[part.next_begin + n]];
    for (int r = below.begin; r < below.begin + below.width; ++r) {
      double* target = row(r);
      for (int k = begin; k < begin + width; ++k) {
        if (symmetric_) {
          target[k] = row(k)[r] * inverse_pivot_[k];
          continue;
        }
        double sum = target[k];
        for (int j = begin; j < k; ++j) sum -= target[j] * row(j)[k];
        target[k] = sum * inverse_pivot_[k];
      }
    }
    for (int c = symmetric_ ? n : 0; c < part.next_count; ++c) {
      const Part& next = parts_[next_[part.next_begin + c]];
      for (int r = below.begin; r < below.begin + below.width; r += 2)
        subtract_rows(part, r, std::min(r + 1, below.begin + below.width - 1), next);
    }
  }
}

bool GroupFactor::factor(bool symmetric) {
  symmetric_ = symmetric;
  sign_ = 1.0;
  for (const Local& local : locals_) {
    const auto [S, inverse, A, B] = matrices(local);
    std::copy_n(S, local.count * local.count, inverse);
    if (!invert_block(inverse, local.count, sign_)) return false;
  }
  list_parts();
  assemble();
  swap_.resize(stride_);
  inverse_pivot_.resize(stride_);
  for (int p = 0; p < static_cast<int>(parts_.size()); ++p) {
    if (!eliminate_own(p)) return false;
    eliminate_beside(p);
  }
  return true;
}

void GroupFactor::solve_parts() {
  const int count = static_cast<int>(parts_.size());
  for (int p = 0; p < count; ++p) {
    const Part& part = parts_[p];
    double* z = z_.data() + part.begin;
    for (int k = 0; k < part.width; ++k) std::swap(z[k], z[swap_[part.begin + k] - part.begin]);
    for (int k = 1; k < part.width; ++k) z[k] -= strip_dot(row(part.begin + k) + part.begin, z, k);
    for (int n = 0; n < part.next_count; ++n) {
      const Part& below = parts_[next_[part.next_begin + n]];
      for (int r = below.begin; r < below.begin + below.width; ++r)
        z_[r] -= strip_dot(row(r) + part.begin, z, part.width);
    }
  }
  for (int p = count - 1; p >= 0; --p) {
    const Part& part = parts_[p];
    for (int k = part.begin + part.width - 1; k >= part.begin; --k) {
      double sum = z_[k] - strip_dot(row(k) + k + 1, z_.data() + k + 1, part.begin + part.width - k - 1);
      for (int n = 0; n < part.next_count; ++n) {
        const Part& next = parts_[next_[part.next_begin + n]];
        sum -= strip_dot(row(k) + next.begin, z_.data() + next.begin, next.width);
      }
      z_[k] = sum * inverse_pivot_[k];
    }
  }
}

void GroupFactor::add_motion(const Local& local, const double* lam) {
  for (const RowRoots::Side& side : roots_->blocks[local.block]) {
    if (side.group < 0) continue;
    const int width = roots_->width(side.group);
    double* z = z_.data() + parts_[place_[side.group]].begin;
    for (int i = 0; i < local.dim; ++i) strip_add(z, side.W + i * width, lam[i], width);
  }
}

void GroupFactor::velocities(const Local& local, double* sigma) const {
  std::fill_n(sigma, local.dim, 0.0);
  for (const RowRoots::Side& side : roots_->blocks[local.block]) {
    if (side.group < 0) continue;
    const int width = roots_->width(side.group);
    const double* z = z_.data() + parts_[place_[side.group]].begin;
    for (int i = 0; i < local.dim; ++i) sigma[i] += strip_dot(side.W + i * width, z, width);
  }
}

namespace {

// out = M x, M small and row-major
void small_product(const double* M, const double* x, int rows, int columns, double* out) {
  for (int i = 0; i < rows; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < columns; ++j) out[i] += M[i * columns + j] * x[j];
  }
}
void small_product_transposed(const double* M, const double* x, int rows, int columns, double* out) {
  std::fill_n(out, columns, 0.0);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) out[j] += M[i * columns + j] * x[i];
  }
}

}  // namespace

void GroupFactor::solve_once(const double* r, double* x) {
  z_.assign(stride_, 0.0);
  double a[widest_block], b[widest_block];
  for (const Local& local : locals_) {
    const auto [S, inverse, A, B] = matrices(local);
    small_product(inverse, r + local.first, local.count, local.count, a);
    small_product_transposed(B, a, local.count, local.dim, b);
    add_motion(local, b);
  }
  solve_parts();
  for (const Local& local : locals_) {
    const auto [S, inverse, A, B] = matrices(local);
    velocities(local, b);
    small_product(A, b, local.count, local.dim, a);
    for (int i = 0; i < local.count; ++i) a[i] = r[local.first + i] - a[i];
    small_product(inverse, a, local.count, local.count, x + local.first);
  }
}

void GroupFactor::subtract_product(const double* x, double* r) {
  z_.assign(stride_, 0.0);
  double a[widest_block], b[widest_block];
  for (const Local& local : locals_) {
    const auto [S, inverse, A, B] = matrices(local);
    small_product_transposed(B, x + local.first, local.count, local.dim, b);
    add_motion(local, b);
  }
  for (const Local& local : locals_) {
    const auto [S, inverse, A, B] = matrices(local);
    velocities(local, b);
    small_product(A, b, local.count, local.dim, a);
    for (int i = 0; i < local.count; ++i) r[local.first + i] -= a[i];
    small_product(S, x + local.first, local.count, local.count, a);
    for (int i = 0; i < local.count; ++i) r[local.first + i] -= a[i];
  }
}

// Again for what is missed, as long as that becomes less.
void GroupFactor::solve(double* x, double enough) {
  constexpr int most_rounds = 4;
  constexpr double better = 0.1;
  const auto size = [&](const std::vector<double>& v) {
    double largest = 0.0;
    for (double each : v) largest = std::max(largest, std::abs(each));
    return largest;
  };
  left_.assign(x, x + unknowns_);
  more_.resize(unknowns_);
  double missed = size(left_);
  const double asked = missed;
  std::fill(x, x + unknowns_, 0.0);
  for (int round = 0; round < most_rounds; ++round) {
    solve_once(left_.data(), more_.data());
    for (int k = 0; k < unknowns_; ++k) x[k] += more_[k];
    subtract_product(more_.data(), left_.data());
    const double before = std::exchange(missed, size(left_));
    if (!(missed <= better * before) || missed <= enough * asked) break;
  }
}

}  // namespace articula
