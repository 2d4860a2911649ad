#include "articula/solvers/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr int most_pairs = 450;         // their table takes the square
constexpr double perturbation = 1e-12;  // of q, different for each pair: no two rows leave at once
constexpr double least_pivot = 1e-10;

int padded(int n) { return (n + 3) / 4 * 4; }

}  // namespace

void Lemke::reserve(int rows) {
  const int pairs = std::min(3 * rows, most_pairs);
  pairs_.reserve(3 * static_cast<std::size_t>(rows));
  unit_.reserve(rows);
  basic_.reserve(pairs);
  other_.reserve(pairs + 1);
  table_.reserve(static_cast<std::size_t>(pairs) * padded(pairs + 2));
}

void Lemke::list_pairs(const ContactProblem& problem, bool inside_cones) {
  pairs_.clear();
  for (const Block& block : problem.blocks) {
    const int n = block.first, normal = static_cast<int>(pairs_.size());
    switch (block.kind) {
      case BlockKind::equality:
        for (int i = n; i < n + block.dim; ++i) pairs_.push_back({.row = i, .free = true});
        break;
      case BlockKind::interval: {
        // It starts at the end that opposes the velocity.
        const double bound = block.bound / unit_[n], sign = problem.b[n] > 0.0 ? 1.0 : -1.0;
        if (bound > 0.0)
          pairs_.push_back({.row = n, .sign = sign, .offset = -sign * bound, .end = 2.0 * bound});
        break;
      }
      case BlockKind::unilateral: pairs_.push_back({.row = n}); break;
      case BlockKind::contact: {
        const bool round = inside_cones && problem.law == FrictionLaw::cone;
        const double share = round ? 1.0 / std::sqrt(std::max(block.tangents(), 1)) : 1.0;
        pairs_.push_back({.row = n});
        for (int i = 0; i < block.tangents(); ++i) {
          const int slack = static_cast<int>(pairs_.size()) + 2, row = n + 1 + i;
          pairs_.push_back({.row = row, .sign = 1.0, .slack = slack});
          pairs_.push_back({.row = row, .sign = -1.0, .slack = slack});
          pairs_.push_back({.part = Part::slack, .row = row, .normal = normal, .mu = share * block.mu[i]});
        }
      }
    }
  }
}

// w = q + M z + t, in units where every block's mobility is one and the largest velocity is one.
void Lemke::set_table(const ContactProblem& problem) {
  n_ = static_cast<int>(pairs_.size());
  stride_ = padded(n_ + 2);
  table_.assign(static_cast<std::size_t>(n_) * stride_, 0.0);
  basic_.resize(n_);
  other_.resize(n_ + 1);
  other_[n_] = 2 * n_;
  const double scale = 1.0 / (largest_ * largest_);
  for (int i = 0; i < n_; ++i) {
    basic_[i] = i;
    other_[i] = n_ + i;
    double* row = table_row(i);
    const Pair& pair = pairs_[i];
    if (!pair.free) {
      row[n_] = 1.0;
      row[n_ + 1] = perturbation * (0.5 + std::fmod(0.6180339887498949 * (i + 1), 1.0));
    }
    if (pair.part == Part::slack) {
      row[i - 2] = row[i - 1] = -1.0;
      row[pair.normal] = pair.mu;
      continue;
    }
    const double* g = problem.row(pair.row);
    const double factor = pair.sign * unit_[pair.row] * scale;
    double constant = problem.b[pair.row];
    for (int j = 0; j < n_; ++j) {
      const Pair& other = pairs_[j];
      if (other.part == Part::slack) continue;
      row[j] = factor * other.sign * g[other.row] * unit_[other.row];
      constant += g[other.row] * unit_[other.row] * other.offset;
    }
    if (pair.slack >= 0) row[pair.slack] = 1.0;
    row[n_ + 1] += factor * constant;
  }
}

// Exchanges the basic variable of a row with the other of a column.
void Lemke::pivot(int r, int c) {
  double* pivot_row = table_row(r);
  const double inverse = 1.0 / pivot_row[c];
  for (int j = 0; j < n_ + 2; ++j) pivot_row[j] *= -inverse;
  pivot_row[c] = inverse;
  for (int i = 0; i < n_; ++i) {
    double* row = table_row(i);
    const double factor = row[c];
    if (i == r || factor == 0.0) continue;
    row[c] = 0.0;
    strip_add(row, pivot_row, factor, n_ + 2);
  }
  std::swap(basic_[r], other_[c]);
  ++pivots_;
}

// z of an equality takes the place of its w, which is zero for good. One that repeats others stays at zero.
void Lemke::free_equalities() {
  for (int i = 0; i < n_; ++i) {
    if (pairs_[i].free && table_row(i)[i] > least_pivot) pivot(i, i);
  }
}

double Lemke::end_of(int variable) const {
  const bool ends = variable >= n_ && variable < 2 * n_ && pairs_[variable - n_].end > 0.0;
  return ends ? pairs_[variable - n_].end : std::numeric_limits<double>::infinity();
}

int Lemke::column_of(int variable) const {
  return static_cast<int>(std::find(other_.begin(), other_.end(), variable) - other_.begin());
}

// z <- end - z, w <- -w of a pair: z is in `row`, or in `column` if row < 0; w is among the others.
void Lemke::reflect(int pair, int row, int column) {
  Pair& p = pairs_[pair];
  if (row >= 0) {
    double* values = table_row(row);
    for (int j = 0; j < n_ + 2; ++j) values[j] = -values[j];
    values[n_ + 1] += p.end;
  } else {
    for (int i = 0; i < n_; ++i) {
      double* values = table_row(i);
      values[n_ + 1] += values[column] * p.end;
      values[column] = -values[column];
    }
  }
  const int w = column_of(pair);
  for (int i = 0; i < n_; ++i) table_row(i)[w] = -table_row(i)[w];
  p.offset += p.sign * p.end;
  p.sign = -p.sign;
}

// What first comes to an end while the other of a column grows; t if it does so together with others.
Lemke::Event Lemke::first_event(int c) const {
  Event event;
  double shortest = end_of(other_[c]);
  if (std::isfinite(shortest)) event = {.row = -1, .at_end = true, .none = false};
  for (int i = 0; i < n_; ++i) {
    const double* row = table_row(i);
    const int variable = basic_[i];
    if (std::abs(row[c]) < least_pivot) continue;
    if (variable != 2 * n_ && pairs_[variable % n_].free) continue;
    const bool up = row[c] > 0.0;
    const double room = up ? end_of(variable) - row[n_ + 1] : row[n_ + 1];
    const double way = std::max(room, 0.0) / std::abs(row[c]);
    const bool last = variable == 2 * n_ && !up && way <= shortest * (1.0 + 1e-12);
    if (way < shortest || last) {
      event = {.row = i, .at_end = up, .none = false};
      shortest = way;
    }
  }
  return event;
}

bool Lemke::begin(const ContactProblem& problem, bool inside_cones) {
  pivots_ = 0;
  unit_.assign(problem.size, 1.0);
  largest_ = 0.0;
  for (const Block& block : problem.blocks) {
    const double unit = 1.0 / std::sqrt(problem.mobility(block));
    for (int i = block.first; i < block.first + block.dim; ++i) {
      unit_[i] = unit;
      largest_ = std::max(largest_, unit * std::abs(problem.b[i]));
    }
  }
  if (!(largest_ > 0.0)) largest_ = 1.0;
  for (double& unit : unit_) unit *= largest_;
  list_pairs(problem, inside_cones);
  if (pairs_.size() > most_pairs) return false;
  set_table(problem);
  free_equalities();
  return true;
}

int Lemke::most_violated() const {
  int row = -1;
  for (int i = 0; i < n_; ++i) {
    if (pairs_[basic_[i] % n_].free) continue;
    if (table_row(i)[n_ + 1] < (row < 0 ? 0.0 : table_row(row)[n_ + 1])) row = i;
  }
  return row;
}

bool Lemke::solve(const ContactProblem& problem, RowMode* mode, double* lam) {
  constexpr int patience = 20;  // pivots for each pair
  if (!begin(problem, false) || !follow_path(patience * n_)) return false;
  read(problem, mode, lam);
  return std::all_of(lam, lam + problem.size, [](double x) { return std::isfinite(x); });
}

// Along the ray what enters grows by one, and what is basic by its column.
bool Lemke::find_ray(const ContactProblem& problem, double* lam) {
  constexpr int patience = 2;
  if (!begin(problem, true) || follow_path(patience * n_) || ray_ < 0) return false;
  std::fill(lam, lam + problem.size, 0.0);
  const auto grow = [&](int variable, double rate) {
    if (variable < n_ || variable == 2 * n_) return;
    const Pair& pair = pairs_[variable - n_];
    if (pair.part == Part::impulse) lam[pair.row] += pair.sign * unit_[pair.row] * rate;
  };
  grow(other_[ray_], 1.0);
  for (int i = 0; i < n_; ++i) grow(basic_[i], table_row(i)[ray_]);
  return std::all_of(lam, lam + problem.size, [](double x) { return std::isfinite(x); });
}

// What is basic carries; a tangent whose slack is basic slips.
void Lemke::read(const ContactProblem& problem, RowMode* mode, double* lam) const {
  std::fill(lam, lam + problem.size, 0.0);
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::equality)
      std::fill(mode + block.first, mode + block.first + block.dim, RowMode::free);
  }
  for (const Pair& pair : pairs_) {
    if (pair.part == Part::slack) continue;
    lam[pair.row] += unit_[pair.row] * pair.offset;
    if (pair.end > 0.0) mode[pair.row] = pair.offset > 0.0 ? RowMode::upper : RowMode::lower;
  }
  for (int i = 0; i < n_; ++i) {
    if (basic_[i] < n_ || basic_[i] == 2 * n_) continue;
    const Pair& pair = pairs_[basic_[i] - n_];
    if (pair.part == Part::slack) continue;
    lam[pair.row] += pair.sign * unit_[pair.row] * table_row(i)[n_ + 1];
    if (!pair.free) mode[pair.row] = RowMode::hold;
  }
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::contact) continue;
    std::fill(mode + block.first + 1, mode + block.first + block.dim, mode[block.first]);
    if (mode[block.first] == RowMode::free) std::fill(lam + block.first, lam + block.first + block.dim, 0.0);
  }
  for (int i = 0; i < n_; ++i) {
    if (basic_[i] < n_ || basic_[i] == 2 * n_) continue;
    const Pair& pair = pairs_[basic_[i] - n_];
    if (pair.part == Part::slack && mode[pair.row] == RowMode::hold)
      mode[pair.row] = lam[pair.row] > 0.0 ? RowMode::upper : RowMode::lower;
  }
}

// t enters in place of what is most negative; from then on the partner of what left enters, until t leaves.
bool Lemke::follow_path(int most_pivots) {
  const int t = 2 * n_, first = most_violated();
  ray_ = -1;
  if (first < 0) return true;
  int partner = basic_[first];
  pivot(first, n_);
  while (pivots_ < most_pivots) {
    const int entering = partner < n_ ? partner + n_ : partner - n_;
    const int column = column_of(entering);
    const Event event = first_event(column);
    if (event.none) {
      ray_ = column;
      return false;
    }
    if (event.row < 0) {
      reflect(entering - n_, -1, column);
      partner = entering;
      continue;
    }
    const int leaving = basic_[event.row];
    if (event.at_end) reflect(leaving - n_, event.row, -1);
    pivot(event.row, column);
    if (leaving == t) return true;
    partner = leaving;
  }
  return false;
}

}  // namespace articula
