// The factor of K for an assignment of modes, from what is left of the last one.

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"
#include "articula/solvers/mode_system.hpp"

namespace articula {

namespace {

// A_k . B_w of two unknowns of one block
double overlap(const ModeUnknown& k, const ModeUnknown& w) {
  const bool plain = k.tangents == 0 || w.tangents == 0;
  if (plain && !k.across && !w.across && k.row == w.row) return 1.0;
  double sum = !k.across && !w.across && k.row == w.row ? 1.0 : 0.0;
  if (plain) {
    // One row alone, which may be a tangent of the other.
    const bool plain_k = k.tangents == 0;
    const int i = plain_k ? k.row - w.row - 1 : w.row - k.row - 1;
    if (i >= 0 && i < (plain_k ? w.tangents : k.tangents)) sum += plain_k ? w.along[i] : k.equation[i];
    return sum;
  }
  for (int i = 0; i < std::min(k.tangents, w.tangents); ++i) sum += k.equation[i] * w.along[i];
  return sum;
}

bool same_unknown(const ModeUnknown& a, const ModeUnknown& b) {
  return a.row == b.row && a.tangents == b.tangents && a.across == b.across && a.compliance == b.compliance &&
         a.weight == b.weight && std::equal(a.along, a.along + a.tangents, b.along) &&
         std::equal(a.equation, a.equation + a.tangents, b.equation);
}

// B_k^T g, with g from the unknown's row on. Nearly all contacts have two tangents.
double dot_along(const ModeUnknown& u, const double* g) {
  double sum = u.across ? 0.0 : g[0];
  if (u.tangents == 2) {
    sum += u.along[0] * g[1];
    return sum + u.along[1] * g[2];
  }
  for (int i = 0; i < u.tangents; ++i) sum += u.along[i] * g[1 + i];
  return sum;
}

// G z of a vector z that has `weights` in the tangents of an unknown, and one in its normal unless the
// unknown is across: rows of G from the normal's on, n numbers each, added up.
void add_rows(const ModeUnknown& u, const double* weights, const double* first, int stride, int n,
              double* out) {
  Lanes scale[5];
  for (int t = 0; t < u.tangents; ++t) scale[t] = broadcast(weights[t]);
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    Lanes sum = u.across ? Lanes{} : load_lanes(first + i);
    for (int t = 0; t < u.tangents; ++t)
      sum += load_lanes(first + static_cast<std::size_t>(1 + t) * stride + i) * scale[t];
    store_lanes(out + i, sum);
  }
  for (; i < n; ++i) {
    double sum = u.across ? 0.0 : first[i];
    for (int t = 0; t < u.tangents; ++t)
      sum += first[static_cast<std::size_t>(1 + t) * stride + i] * weights[t];
    out[i] = sum;
  }
}

bool plain_equation(const ModeUnknown& u) {
  return !u.across && std::all_of(u.equation, u.equation + u.tangents, [](double a) { return a == 0.0; });
}

}  // namespace

// How many leading rows of the last factor stand for the same unknowns, `lead` of which are condensed;
// remembers the new ones.
int ModeSystem::begins_alike(const ContactProblem& problem, double eps, int symmetric, int lead) {
  const bool same_matrix =
      factored_matrix_ == problem.G && factored_softness_ == eps && factored_lead_ == lead;
  const int most =
      std::min({same_matrix ? lu_.reusable() : 0, symmetric, static_cast<int>(factored_.size())});
  int alike = 0;
  while (alike < most && same_unknown(unknowns_[alike], factored_[alike])) ++alike;
  factored_.resize(unknowns_.size());
  std::copy(unknowns_.begin() + alike, unknowns_.end(), factored_.begin() + alike);
  factored_matrix_ = problem.G;
  factored_softness_ = eps;
  factored_lead_ = lead;
  return alike / 4 * 4;
}

// The unknowns that begin the list, rows of no contact: condensed where they are many. Returns how many were;
// negative if numbers overflow.
int ModeSystem::condense(const ContactProblem& problem, double eps) {
  leading_.clear();
  for (const ModeUnknown& u : unknowns_) {
    if (problem.blocks[u.block].kind == BlockKind::contact || (late_ != nullptr && (*late_)[u.block])) break;
    leading_.push_back({u.row, eps * u.weight});
  }
  leading_.resize(leading_.size() / 4 * 4);
  if (leading_.size() < worth_condensing_from) return 0;
  const int lead = static_cast<int>(leading_.size());
  const auto placed = [&](const ModeUnknown& u) { return condensed_.has_place(u.row); };
  if (condensed_.leads_with(problem, leading_) &&
      std::all_of(unknowns_.begin() + lead, unknowns_.end(), placed))
    return lead;
  // All contacts, and all rows of what may change.
  others_.clear();
  const auto add_block = [&](int k) {
    const Block& block = problem.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) others_.push_back(i);
  };
  const auto is_late = [&](int k) { return late_ != nullptr && (*late_)[k]; };
  for (auto u = unknowns_.begin() + lead; u != unknowns_.end(); ++u) {
    if (problem.blocks[u->block].kind != BlockKind::contact && !is_late(u->block)) others_.push_back(u->row);
  }
  for (int k = 0; k < static_cast<int>(problem.blocks.size()); ++k) {
    if (problem.blocks[k].kind == BlockKind::contact || is_late(k)) add_block(k);
  }
  // By number: S_ij and S_ji are one number, rounded as the first of the two rows has it.
  std::sort(others_.begin(), others_.end());
  return condensed_.set(problem, leading_, others_) ? lead : -1;
}

CondensedRows* ModeSystem::condensed(const ContactProblem& problem, const RowMode* mode,
                                     const SlideState* slides) {
  if (GroupFactor::serves(problem)) return nullptr;
  list(problem, mode, slides);
  return condense(problem, softness_) > 0 ? &condensed_ : nullptr;
}

// Of the condensed rows, the factor; from column `kept` on, and below row `kept`, that of the unknowns at
// hand: (L^-1 G_lr) B, and A^T of what the others take from the leading rows.
void ModeSystem::take_condensed(int lead, int kept) {
  const int n = static_cast<int>(unknowns_.size());
  for (int k = 0; k < lead; ++k) {
    const double *from = condensed_.leading_row(k), *beside = from + lead;
    double* row = lu_.row(k);
    if (kept == lead) std::copy(from, from + lead, row);
    for (int w = kept; w < n; ++w) row[w] = beside[rows_[w]];
  }
  for (int w : mixed_) {
    if (w < kept) continue;
    const ModeUnknown& u = unknowns_[w];
    for (int k = 0; k < lead; ++k) lu_.row(k)[w] = dot_along(u, condensed_.leading_row(k) + lead + rows_[w]);
  }
  for (int k = kept; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    double* row = lu_.row(k);
    const double* first = condensed_.multipliers(rows_[k]);
    if (u.across)
      std::fill(row, row + lead, 0.0);
    else
      std::copy(first, first + lead, row);
    for (int i = 0; i < u.tangents; ++i) {
      if (u.equation[i] != 0.0) strip_add(row, condensed_.multipliers(rows_[k] + 1 + i), u.equation[i], lead);
    }
  }
}

// B^T g, with g from the contact's normal on; from its unknown `begin` on.
void ModeSystem::MixedBlock::multiply(const double* g, int begin, double* out) const {
  Lanes low = Lanes{g[0], 0.0, 0.0, 0.0}, high{};
  for (int i = 0; i < tangents; ++i) {
    const Lanes here = broadcast(g[1 + i]);
    low += load_lanes(along[i]) * here;
    high += load_lanes(along[i] + 4) * here;
  }
  double numbers[8];
  store_lanes(numbers, low);
  store_lanes(numbers + 4, high);
  for (int w = begin; w < unknowns; ++w) out[w] = numbers[w];
}

// Unknowns that are more than a row, and those of contacts with many tangents, which are worth a product of
// their own.
void ModeSystem::list_mixed(const PlacedRows& from, int lead) {
  constexpr int many = 3;
  const int n = static_cast<int>(unknowns_.size());
  rows_.clear();
  mixed_.clear();
  mixed_blocks_.clear();
  for (int k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    rows_.push_back(k < lead ? -1 : from.place_of(u.row));
    if (u.tangents == 0) continue;
    mixed_.push_back(k);
    const bool whole = u.tangents >= many && !u.across && k + 1 < n && unknowns_[k + 1].across;
    if (!whole) {
      if (!u.across || u.tangents < many) mixed_blocks_.emplace_back().first = k;
      continue;
    }
    MixedBlock& block =
        mixed_blocks_.emplace_back(MixedBlock{.first = k, .unknowns = u.tangents, .tangents = u.tangents});
    for (int w = 0; w < block.unknowns; ++w) {
      for (int i = 0; i < u.tangents; ++i) block.along[i][w] = unknowns_[k + w].along[i];
    }
  }
}

// Row k of K is (G A_k)^T B + eps R A_k^T B + C, from row `lead` on; of the first `kept` rows what is not a
// factor already.
void ModeSystem::assemble(const PlacedRows& from, int lead, int kept, int symmetric, double eps) {
  const int n = static_cast<int>(unknowns_.size());
  combined_.resize(from.size);
  columns_.resize(mixed_.size() * from.size);
  double* column = columns_.data();
  for (int k : mixed_) {
    const ModeUnknown& u = unknowns_[k];
    add_rows(u, u.along, from.row(rows_[k]), from.stride, from.size, column);
    column += from.size;
  }
  const double* own = columns_.data();
  for (int k = lead; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    const double* pulled = from.row(rows_[k]);
    const bool plain = plain_equation(u);
    if (!plain && same_equation(u)) {
      pulled = own;
    } else if (!plain) {
      add_rows(u, u.equation, pulled, from.stride, from.size, combined_.data());
      pulled = combined_.data();
    }
    if (u.tangents > 0) own += from.size;
    double* row = lu_.row(k);
    const int first = k < kept ? kept : k < symmetric ? k : lead;
    for (int w = first; w < n; ++w) row[w] = pulled[rows_[w]];
    if (plain) {
      column = columns_.data();
      for (int w : mixed_) {
        if (w >= first) row[w] = column[rows_[k]];
        column += from.size;
      }
    } else {
      for (const MixedBlock& block : mixed_blocks_) {
        if (block.first + block.unknowns <= first) continue;
        if (block.unknowns == 1)
          row[block.first] = dot_along(unknowns_[block.first], pulled + rows_[block.first]);
        else
          block.multiply(pulled + rows_[block.first], std::max(first - block.first, 0), row + block.first);
      }
    }
    if (k >= kept) row[k] += u.compliance;
    // Where G is next to null this is all there is: added to G itself, its last digits would be lost.
    const auto soften = [&](int w) { row[w] += eps * u.weight * overlap(u, unknowns_[w]); };
    for (int w = std::max(k, kept); w < n && unknowns_[w].block == u.block; ++w) soften(w);
    for (int w = k - 1; k >= symmetric && w >= lead && unknowns_[w].block == u.block; --w) soften(w);
  }
}

namespace {

// Column of A or B over the rows of its block.
void write_column(const ModeUnknown& u, int first, const double* tangents, double* column) {
  if (!u.across) column[u.row - first] = 1.0;
  for (int i = 0; i < u.tangents; ++i) column[u.row - first + 1 + i] = tangents[i];
}

}  // namespace

// S = eps R A^T B + C. Nothing tells how near to null K is but a vector that is nothing special.
bool ModeSystem::factor_by_groups(const ContactProblem& problem, double eps) {
  const int n = static_cast<int>(unknowns_.size());
  grouped_.begin(problem);
  for (int k = 0, end = 0; k < n; k = end) {
    const int number = unknowns_[k].block;
    while (end < n && unknowns_[end].block == number) ++end;
    const Block& block = problem.blocks[number];
    const int count = end - k;
    const GroupFactor::Matrices of = grouped_.add(number, count);
    for (int i = 0; i < count; ++i) {
      const ModeUnknown& u = unknowns_[k + i];
      write_column(u, block.first, u.equation, of.A + i * block.dim);
      write_column(u, block.first, u.along, of.B + i * block.dim);
      for (int j = 0; j < count; ++j) of.S[i * count + j] = eps * u.weight * overlap(u, unknowns_[k + j]);
      of.S[i * count + i] += u.compliance;
    }
  }
  if (!grouped_.factor(std::all_of(unknowns_.begin(), unknowns_.end(), same_equation))) return false;
  maybe_null_ = null_known_ = false;
  precision_ = 1e-16;
  return true;
}

bool ModeSystem::factor_system(const ContactProblem& problem, double eps) {
  const int n = static_cast<int>(unknowns_.size());
  ++factorisations_;
  pure_ = false;
  by_groups_ = GroupFactor::serves(problem);
  if (by_groups_) return factor_by_groups(problem, eps);
  lu_.resize(n);
  const auto first_sliding = std::find_if_not(unknowns_.begin(), unknowns_.end(), same_equation);
  const int symmetric = static_cast<int>(first_sliding - unknowns_.begin());
  const int lead = condense(problem, eps);
  if (lead < 0) return false;
  const int kept = std::max(begins_alike(problem, eps, symmetric, lead), lead);
  const PlacedRows from = lead > 0
                              ? condensed_.rest()
                              : PlacedRows{.data = problem.G, .stride = problem.stride, .size = problem.size};
  list_mixed(from, lead);
  if (lead > 0) take_condensed(lead, kept);
  assemble(from, lead, kept, symmetric, eps);
  if (!(symmetric == n ? lu_.factor_symmetric(kept, lead) : lu_.factor_bordered(symmetric, kept, lead)))
    return false;
  double least = 1.0;
  for (int k = 0; k < n; ++k) least = std::min(least, std::abs(lu_.pivot(k)) / unknowns_[k].weight);
  maybe_null_ = least < 1e-3;
  null_known_ = maybe_null_ || symmetric == n;
  // Less than the square of the usual softness, which two corrections leave: otherwise chance would decide
  // whether there is a third, and steps would be noisy.
  precision_ = 1e-15 * std::clamp(10.0 * least, 1e-1, 1.0);
  return true;
}

}  // namespace articula
