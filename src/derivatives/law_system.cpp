#include "law_system.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"
#include "row_products.hpp"

namespace articula {

namespace {

constexpr double consistent = 1e-13;   // what rounding leaves of Y^T rho
constexpr double contradicts = 1e-12;  // relative slack
constexpr double independent = 1e-10;  // pivots of rows that others do not determine
constexpr double met = 1e-7;           // of those that softness does not hide from the step

bool on_cone(RowMode tangent) { return tangent == RowMode::slide || tangent == RowMode::yield; }

}  // namespace

void LawSystem::linearise(const ContactProblem& problem, const RowMode* mode, const double* lam,
                          const double* sigma, double softness) {
  problem_ = problem;
  mode_.assign(mode, mode + problem.size);
  slides_.assign(problem.blocks.size(), {});
  for (size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1) continue;
    if (!on_cone(mode_[t])) continue;
    SlideState& slide = slides_[k];
    for (int i = 0; i < block.tangents(); ++i) {
      const double w = block.mu[i] * sigma[t + i];
      slide.speed += w * w;
    }
    slide.speed = std::sqrt(slide.speed);
    slide.normal = std::max(lam[block.first], 1e-300);
    for (int i = 0; i < block.tangents(); ++i) slide.d[i] = block.mu[i] * sigma[t + i] / slide.speed;
  }
  rows_.resize(problem.size);
  list_unknowns(problem_, mode_.data(), slides_.data(), unknowns_);
  null_spaces_found_ = false;
  choices_found_.reset();
  slack_ = sliding_slack_ = 0.0;
  keeps_loads_ = false;
  inconsistency_ = -1.0;
  find_yielding(lam);
  for (const ModeUnknown& u : unknowns_) {
    if (u.across) continue;
    double& granted = u.tangents == 0 ? slack_ : sliding_slack_;
    granted = std::max(granted, std::abs(gather(u, sigma)) / problem.velocity_scale);
  }
  left_out_.clear();
  if (softness > 0.0)
    soften_problem(softness);
  else if (slack_ <= contradicts)
    leave_out_tangents(lam);
}

bool LawSystem::prepare(const ContactProblem& problem, const RowMode* mode, const double* lam,
                        const double* sigma, double softness) {
  linearise(problem, mode, lam, sigma, softness);
  symmetric_ = std::all_of(unknowns_.begin(), unknowns_.end(), [&](const ModeUnknown& u) {
    return (u.tangents == 0 || joined(u)) && u.compliance == 0.0;
  });
  if (!factor(independent)) return false;
  // What the step has not met, next to singular, it has taken for a contradiction.
  const bool missed = softness == 0.0 && std::max(slack_, sliding_slack_) > contradicts;
  if (missed && conditioning() < met) {
    if (!factor(met)) return false;
    slack_ = sliding_slack_ = 0.0;
  }
  const bool told = !slack_slides() || problem.law == FrictionLaw::pyramid;
  least_ = softness == 0.0 && grants_slack(true) && told && slack_moves_nothing(sigma);
  return true;
}

bool LawSystem::slack_moves_nothing(const double* sigma) {
  constexpr double nothing = 1e-2;  // slack of some 1e-14 has no more digits
  combined_.assign(problem_.size, 0.0);
  slack_impulses(sigma, combined_.data());
  const double largest = nothing * std::max(slack_, sliding_slack_) * problem_.velocity_scale;
  return std::all_of(unknowns_.begin(), unknowns_.end(), [&](const ModeUnknown& u) {
    if (!tells_slack(u)) return true;
    return std::abs(strip_dot(problem_.row(u.row), combined_.data(), problem_.size)) <= largest;
  });
}

// sigma + softness R lam = (G + softness R) lam + b
void LawSystem::soften_problem(double softness) {
  const std::size_t stride = problem_.stride;
  soft_G_.resize(stride * problem_.size);
  for (int i = 0; i < problem_.size; ++i) std::copy_n(problem_.row(i), stride, soft_G_.data() + i * stride);
  for (const Block& block : problem_.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      soft_G_[i * stride + i] += softness * problem_.mobility(block);
  }
  problem_.G = soft_G_.data();
}

// Row k of K is (G A_k)^T B.
bool LawSystem::factor(double tolerance) {
  const int n = unknowns();
  factor_.resize(n);
  combined_.resize(problem_.size);
  // What slides comes last.
  const int plain = static_cast<int>(
      std::find_if(unknowns_.begin(), unknowns_.end(), [](const ModeUnknown& u) { return u.tangents > 0; }) -
      unknowns_.begin());
  for (int k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    const double* pulled = problem_.row(u.row);
    bool pulls = u.across;
    for (int i = 0; i < u.tangents; ++i) pulls = pulls || u.equation[i] != 0.0;
    if (pulls) {
      if (u.across)
        std::fill(combined_.begin(), combined_.end(), 0.0);
      else
        std::copy(pulled, pulled + problem_.size, combined_.begin());
      for (int i = 0; i < u.tangents; ++i)
        strip_add(combined_.data(), problem_.row(u.row + 1 + i), u.equation[i], problem_.size);
      pulled = combined_.data();
    }
    double* row = factor_.row(k);
    const ModeUnknown* other = unknowns_.data();
    for (int w = 0; w < plain; ++w) row[w] = pulled[other[w].row];
    for (int w = plain; w < n; ++w) {
      const double* g = pulled + other[w].row;
      row[w] = other[w].tangents == 2 && !other[w].across
                   ? g[0] + other[w].along[0] * g[1] + other[w].along[1] * g[2]
                   : dot_spread(other[w], pulled);
    }
    row[k] += u.compliance;
  }
  return factor_.factor(tolerance, symmetric_);
}

// Q x = A^T R B x, or its transpose
void LawSystem::soften(const double* x, bool transposed, double* result) {
  combined_.assign(problem_.size, 0.0);
  transposed ? spread_equations(x, combined_.data()) : spread(unknowns_, x, combined_.data());
  for (const Block& block : problem_.blocks) {
    const double R = problem_.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) combined_[i] *= R;
  }
  for (int k = 0; k < unknowns(); ++k)
    result[k] =
        transposed ? dot_spread(unknowns_[k], combined_.data()) : gather(unknowns_[k], combined_.data());
}

void LawSystem::find_null_spaces() {
  if (null_spaces_found_) return;
  null_spaces_found_ = true;
  factor_.null_spaces(Z_, symmetric_ ? nullptr : &Y_);
  if (symmetric_) Y_ = Z_;  // A = B
  QZ_.clear();
  QY_.clear();
  sliding_share_ = 0.0;
  for (std::size_t at = 0; at < Z_.size(); at += unknowns_.size())
    sliding_share_ = std::max(sliding_share_, sliding_share(Z_.data() + at));
}

// Only choices that matter, and what contradicts itself, ask for it.
void LawSystem::find_choice_matrix() {
  find_null_spaces();
  if (!QY_.empty()) return;
  const int n = unknowns(), many = n - rank();
  soften_all(Y_, true, QY_);
  H_.resize(many);
  for (int i = 0; i < many; ++i) {
    for (int j = 0; j < many; ++j)
      H_.row(i)[j] = strip_dot(QY_.data() + static_cast<std::size_t>(i) * n,
                               Z_.data() + static_cast<std::size_t>(j) * n, n);
  }
  // Without a factor nothing is removed: its rank is zero then.
  [[maybe_unused]] const bool found = H_.factor(1e-12, symmetric_);
}

// Q or Q^T times vectors of n numbers; where nothing slides Q is diagonal.
void LawSystem::soften_all(const std::vector<double>& vectors, bool transposed, std::vector<double>& result) {
  const std::size_t n = unknowns_.size();
  result.resize(vectors.size());
  for (std::size_t at = 0; at < vectors.size(); at += n) {
    if (!symmetric_) {
      soften(vectors.data() + at, transposed, result.data() + at);
      continue;
    }
    for (std::size_t k = 0; k < n; ++k) result[at + k] = unknowns_[k].weight * vectors[at + k];
  }
}

// Only what contradicts itself asks for it.
const std::vector<double>& LawSystem::softened_ways() {
  find_null_spaces();
  if (QZ_.empty()) soften_all(Z_, false, QZ_);
  return QZ_;
}

// x <- x - (along) H^-1 (against)^T x, or with H^-T, over all columns
void LawSystem::remove_part(const std::vector<double>& along, const std::vector<double>& against,
                            bool transposed, double* x, int columns) {
  const int n = unknowns(), many = n - rank();
  find_choice_matrix();
  part_.assign(static_cast<std::size_t>(many) * columns, 0.0);
  if (columns == 1) {
    for (int j = 0; j < many; ++j)
      part_[j] = strip_dot(against.data() + static_cast<std::size_t>(j) * n, x, n);
    transposed ? H_.solve_transposed(part_.data()) : H_.solve(part_.data());
    for (int j = 0; j < many; ++j) strip_add(x, along.data() + static_cast<std::size_t>(j) * n, -part_[j], n);
    return;
  }
  pointers_.resize(n);
  for (int k = 0; k < n; ++k) pointers_[k] = x + static_cast<std::size_t>(k) * columns;
  add_product(against.data(), n, many, n, pointers_.data(), columns, part_.data(), columns);
  H_.solve_columns(part_.data(), columns);
  along_.resize(along.size());
  for (int j = 0; j < many; ++j) {
    pointers_[j] = part_.data() + static_cast<std::size_t>(j) * columns;
    for (int k = 0; k < n; ++k)
      along_[static_cast<std::size_t>(k) * many + j] = -along[static_cast<std::size_t>(j) * n + k];
  }
  add_product(along_.data(), many, n, many, pointers_.data(), columns, x, columns);
}

void LawSystem::make_consistent(double* x, int columns) {
  remove_part(softened_ways(), Y_, false, x, columns);
}
void LawSystem::make_consistent_transposed(double* x) { remove_part(Y_, softened_ways(), true, x, 1); }
void LawSystem::keep_choice(double* x, int columns) { remove_part(Z_, QY_, false, x, columns); }
void LawSystem::keep_choice_transposed(double* x) { remove_part(QY_, Z_, true, x, 1); }

// Of impulses that motion alone is asked of. Null vectors in which nothing slides (loops of one plane, feet
// that stand) move nothing.
void LawSystem::keep_moving_choice(double* x, int columns) {
  constexpr double rounding = 1e-12;
  if (symmetric_ || regular()) return;
  find_null_spaces();
  if (sliding_share_ > rounding) keep_choice(x, columns);
}

// Largest |Y^T rho| over |Y| |rho|, of all columns together, weighted so that they do not cancel.
void LawSystem::note_inconsistency(const double* x, int columns) {
  inconsistency_ = 0.0;
  const int n = unknowns(), many = n - rank();
  if (many == 0) return;
  find_null_spaces();
  combined_.assign(n, 0.0);
  part_.resize(columns);
  double weight = 1.0, largest = 0.0;
  for (double& each : part_) {
    each = weight;
    weight = weight > 1.6 ? weight - 0.6180339887 : weight + 0.3819660113;
  }
  for (int k = 0; k < n; ++k) {
    combined_[k] = strip_dot(part_.data(), x + static_cast<std::size_t>(k) * columns, columns);
    largest = std::max(largest, std::abs(combined_[k]));
  }
  if (!(largest > 0.0)) return;
  for (int j = 0; j < many; ++j) {
    const double* y = Y_.data() + static_cast<std::size_t>(j) * n;
    double size = 0.0;
    for (int k = 0; k < n; ++k) size = std::max(size, std::abs(y[k]));
    inconsistency_ = std::max(inconsistency_, std::abs(strip_dot(y, combined_.data(), n)) / (size * largest));
  }
}

void LawSystem::combine_null_covectors() {
  find_null_spaces();
  const int n = unknowns();
  x_.assign(n, 0.0);
  double weight = 1.0;
  for (int j = 0; j < n - rank(); ++j) {
    strip_add(x_.data(), Y_.data() + static_cast<std::size_t>(j) * n, weight, n);
    weight = weight > 1.6 ? weight - 0.6180339887 : weight + 0.3819660113;  // so that none cancel
  }
}

void LawSystem::null_covector(double* sigma) {
  combine_null_covectors();
  spread_equations(x_.data(), sigma);
}

void LawSystem::null_covectors(double* c_bar, double* rho_bar) {
  combine_null_covectors();
  const std::vector<double> none(problem_.size, 0.0);
  take_back(none.data(), c_bar, rho_bar);
}

void LawSystem::spread_equations(const double* x, double* sigma) const {
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const ModeUnknown& u = unknowns_[k];
    if (!u.across) sigma[u.row] += x[k];
    for (int i = 0; i < u.tangents; ++i) sigma[u.row + 1 + i] += u.equation[i] * x[k];
  }
}

void LawSystem::solve(const double* c, const double* rho, double* dlam) {
  std::fill(dlam, dlam + problem_.size, 0.0);
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode_[i] != RowMode::hold && !on_cone(mode_[i])) dlam[i] = rho[i];
    }
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1 || !on_cone(mode_[t])) continue;
    double forward = 0.0;
    for (int i = 0; i < block.tangents(); ++i) forward += slides_[k].d[i] * rho[t + i] / block.mu[i];
    for (int i = 0; i < block.tangents(); ++i) dlam[t + i] = block.mu[i] * slides_[k].d[i] * forward;
  }
  for (int i = 0; i < problem_.size; ++i) rows_[i] = c[i] + strip_dot(problem_.row(i), dlam, problem_.size);
  x_.resize(unknowns_.size());
  double scale = 0.0;
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    const ModeUnknown& u = unknowns_[k];
    x_[k] = -gather(u, rows_.data());
    if (!u.across) {
      x_[k] += rho[u.row];
      if (joined(u)) x_[k] += u.equation[0] * rho[u.row + 1];
    } else {
      const Block& block = problem_.blocks[u.block];
      for (int i = 0; i < u.tangents; ++i)
        x_[k] += u.compliance * u.along[i] / (block.mu[i] * block.mu[i]) * rho[u.row + 1 + i];
    }
    scale = std::max(scale, std::abs(x_[k]));
  }
  note_inconsistency(x_.data(), 1);
  if (inconsistency_ > consistent) make_consistent(x_.data(), 1);
  factor_.solve(x_.data());
  if (!symmetric_ && !regular()) keep_choice(x_.data(), 1);
  spread(unknowns_, x_.data(), dlam);
  for (const LeftOut& out : left_out_) {
    double off = rho[out.row] - rows_[out.row];
    if (out.ratio != 0.0) off -= out.ratio * (rho[out.row - 1] - rows_[out.row - 1]);
    off = std::abs(off);
    if (off > 0.0) inconsistency_ = std::max(inconsistency_, off / std::max(off, scale));
  }
}

// As `solve`, with the explicit changes of sigma in c and no rho: what a law holds fixed stays so.
void LawSystem::solve_columns(double* rows, int columns) {
  const std::size_t n = unknowns_.size(), width = columns;
  right_.resize(n * width);
  for (std::size_t k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    double* to = right_.data() + k * width;
    const double* from = rows + u.row * width;
    for (std::size_t c = 0; c < width; ++c) to[c] = u.across ? 0.0 : -from[c];
    for (int i = 0; i < u.tangents; ++i) {
      if (u.equation[i] != 0.0) strip_add(to, rows + (u.row + 1 + i) * width, -u.equation[i], columns);
    }
  }
  note_inconsistency(right_.data(), columns);
  if (inconsistency_ > consistent) make_consistent(right_.data(), columns);
  factor_.solve_columns(right_.data(), columns);
  keep_moving_choice(right_.data(), columns);
  for (const ModeUnknown& u : unknowns_) {
    if (u.tangents > 0) std::fill_n(rows + u.row * width, width * (1 + u.tangents), 0.0);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    const double* x = right_.data() + k * width;
    if (u.tangents == 0)
      std::copy_n(x, width, rows + u.row * width);
    else if (!u.across)
      strip_add(rows + u.row * width, x, 1.0, columns);
    for (int i = 0; i < u.tangents; ++i) {
      if (u.along[i] != 0.0) strip_add(rows + (u.row + 1 + i) * width, x, u.along[i], columns);
    }
  }
}

void LawSystem::mark_rows(char* in_equations, char* carries) const {
  for (const ModeUnknown& u : unknowns_) {
    if (!u.across) in_equations[u.row] = 1;
    for (int i = 0; i < u.tangents; ++i) {
      if (u.equation[i] != 0.0) in_equations[u.row + 1 + i] = 1;
    }
  }
  // Where nothing slides, rows on which others depend carry all that changes.
  const int many = symmetric_ ? rank() : unknowns();
  for (int k = 0; k < many; ++k) {
    const ModeUnknown& u = unknowns_[symmetric_ ? factor_.unknown_of(k) : k];
    if (!u.across) carries[u.row] = 1;
    for (int i = 0; i < u.tangents; ++i) {
      if (u.along[i] != 0.0) carries[u.row + 1 + i] = 1;
    }
  }
}

void LawSystem::solve_transposed(const double* lam_bar, double* c_bar, double* rho_bar) {
  x_.resize(unknowns_.size());
  for (size_t k = 0; k < unknowns_.size(); ++k) x_[k] = dot_spread(unknowns_[k], lam_bar);
  if (!symmetric_ && !regular()) keep_choice_transposed(x_.data());
  factor_.solve_transposed(x_.data());
  // Where everything is consistent this changes nothing that any input could tell.
  if (!regular()) make_consistent_transposed(x_.data());
  take_back(lam_bar, c_bar, rho_bar);
}

// From covectors x_ of the equations to those of c and rho.
void LawSystem::take_back(const double* lam_bar, double* c_bar, double* rho_bar) {
  std::fill(c_bar, c_bar + problem_.size, 0.0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const ModeUnknown& u = unknowns_[k];
    if (!u.across) c_bar[u.row] -= x_[k];
    for (int i = 0; i < u.tangents; ++i) c_bar[u.row + 1 + i] -= u.equation[i] * x_[k];
  }
  // Of rows whose law tells the impulse.
  for (int i = 0; i < problem_.size; ++i) {
    rho_bar[i] = 0.0;
    if (mode_[i] == RowMode::hold) continue;
    rows_[i] = lam_bar[i] + strip_dot(problem_.row(i), c_bar, problem_.size);
    if (!on_cone(mode_[i])) rho_bar[i] = rows_[i];
  }
  for (size_t k = 0; problem_.law == FrictionLaw::cone && k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1 || !on_cone(mode_[t])) continue;
    double forward = 0.0;
    for (int i = 0; i < block.tangents(); ++i) forward += block.mu[i] * slides_[k].d[i] * rows_[t + i];
    for (int i = 0; i < block.tangents(); ++i) rho_bar[t + i] = slides_[k].d[i] / block.mu[i] * forward;
  }
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    const ModeUnknown& u = unknowns_[k];
    if (!u.across) {
      rho_bar[u.row] += x_[k];
      if (joined(u)) rho_bar[u.row + 1] += u.equation[0] * x_[k];
      continue;
    }
    const Block& block = problem_.blocks[u.block];
    for (int i = 0; i < u.tangents; ++i)
      rho_bar[u.row + 1 + i] += u.compliance * u.along[i] / (block.mu[i] * block.mu[i]) * x_[k];
  }
}

namespace {

// y = (lam_N / |w|) mu o P (mu o x), symmetric
void slide_map(const Block& block, const SlideState& slide, const double* x, double* y, double sign) {
  double forward = 0.0;
  for (int i = 0; i < block.tangents(); ++i) forward += slide.d[i] * block.mu[i] * x[i];
  const double factor = sign * slide.normal / slide.speed;
  for (int i = 0; i < block.tangents(); ++i)
    y[i] += factor * block.mu[i] * (block.mu[i] * x[i] - slide.d[i] * forward);
}

}  // namespace

void LawSystem::slack_impulses(const double* sigma, double* y) const {
  for (const ModeUnknown& u : unknowns_) {
    if (!tells_slack(u)) continue;
    y[u.row] = -sigma[u.row] / u.weight;
    for (int i = 0; i < u.tangents; ++i) y[u.row + 1 + i] += u.along[i] * y[u.row];
  }
}

double LawSystem::weight(int row) const {
  for (const ModeUnknown& u : unknowns_) {
    if (u.row == row) return u.weight;
  }
  return 0.0;
}

bool LawSystem::slides() const {
  return !keeps_loads_ && std::any_of(unknowns_.begin(), unknowns_.end(),
                                      [&](const ModeUnknown& u) { return u.tangents > 0 && !joined(u); });
}

void LawSystem::add_explicit(const double* dsigma, double* rho) const {
  add_explicit_rows(dsigma, rho);
  for (const ModeUnknown& u : unknowns_) {
    if (u.across || joined(u)) continue;
    for (int i = 0; i < u.tangents; ++i) rho[u.row] -= u.equation[i] * dsigma[u.row + 1 + i];
  }
}

// The symmetric part of it.
void LawSystem::add_explicit_rows(const double* dsigma, double* rho) const {
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode_[i] == RowMode::hold) rho[i] -= dsigma[i];
    }
    const int t = block.first + 1;
    if (block.kind == BlockKind::contact && block.dim > 1 && on_cone(mode_[t]))
      slide_map(block, slides_[k], dsigma + t, rho + t, -1.0);
  }
}

void LawSystem::add_explicit_transposed(const double* rho_bar, double* sigma_bar) const {
  add_explicit_rows(rho_bar, sigma_bar);
  for (const ModeUnknown& u : unknowns_) {
    if (u.across || joined(u)) continue;
    for (int i = 0; i < u.tangents; ++i) sigma_bar[u.row + 1 + i] -= u.equation[i] * rho_bar[u.row];
  }
}

}  // namespace articula
