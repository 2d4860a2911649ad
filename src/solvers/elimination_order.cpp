#include "articula/solvers/elimination_order.hpp"

#include <algorithm>
#include <bit>

namespace articula {

namespace {

constexpr int bits = 64;

}  // namespace

void EliminationOrder::reserve(int blocks) {
  touches_.reserve(static_cast<std::size_t>(blocks) * ((blocks + bits - 1) / bits));
  for (std::vector<int>* vector : {&contacts_, &group_, &groups_, &weight_, &degree_, &order_})
    vector->reserve(blocks);
}

// Contacts touch if G couples some of their rows.
void EliminationOrder::find_neighbours(const ContactProblem& problem) {
  const int n = static_cast<int>(contacts_.size());
  words_ = (n + bits - 1) / bits;
  touches_.assign(static_cast<std::size_t>(n) * words_, 0);
  for (int i = 0; i < n; ++i) {
    const Block& a = problem.blocks[contacts_[i]];
    for (int j = 0; j <= i; ++j) {
      const Block& b = problem.blocks[contacts_[j]];
      const double* row = problem.row(a.first);
      const bool coupled =
          std::any_of(row + b.first, row + b.first + b.dim, [](double g) { return g != 0.0; });
      if (!coupled && i != j) continue;
      neighbours(i)[j / bits] |= Word{1} << (j % bits);
      neighbours(j)[i / bits] |= Word{1} << (i % bits);
    }
  }
}

// Contacts of one pair of bodies touch the same ones, and are eliminated together.
void EliminationOrder::find_groups(const ContactProblem& problem) {
  const int n = static_cast<int>(contacts_.size());
  group_.resize(n);
  groups_.clear();
  weight_.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    const Word* mine = neighbours(i);
    const auto same = std::find_if(groups_.begin(), groups_.end(),
                                   [&](int g) { return std::equal(mine, mine + words_, neighbours(g)); });
    group_[i] = same == groups_.end() ? i : *same;
    if (same == groups_.end()) groups_.push_back(i);
    weight_[group_[i]] += problem.blocks[contacts_[i]].dim;
  }
  for (int g : groups_) {
    for (int i = 0; i < n; ++i) {
      if (group_[i] != i || i == g) neighbours(g)[i / bits] &= ~(Word{1} << (i % bits));
    }
  }
}

int EliminationOrder::degree(int group) {
  int rows = 0;
  for (int w = 0; w < words_; ++w) {
    for (Word left = neighbours(group)[w]; left != 0; left &= left - 1)
      rows += weight_[w * bits + std::countr_zero(left)];
  }
  return rows;
}

// Its neighbours touch each other from here on.
void EliminationOrder::eliminate(int group) {
  const Word* mine = neighbours(group);
  for (int w = 0; w < words_; ++w) {
    for (Word left = mine[w]; left != 0; left &= left - 1) {
      const int other = w * bits + std::countr_zero(left);
      Word* theirs = neighbours(other);
      for (int v = 0; v < words_; ++v) theirs[v] |= mine[v];
      theirs[other / bits] &= ~(Word{1} << (other % bits));
      theirs[group / bits] &= ~(Word{1} << (group % bits));
      degree_[other] = degree(other);
    }
  }
}

const int* EliminationOrder::of(const ContactProblem& problem) {
  if (problem.size < worth_ordering_from) return nullptr;
  const int count = static_cast<int>(problem.blocks.size());
  if (matrix_ == problem.G && static_cast<int>(order_.size()) == count) return order_.data();
  matrix_ = problem.G;
  order_.clear();
  contacts_.clear();
  for (int k = 0; k < count; ++k)
    (problem.blocks[k].kind == BlockKind::contact ? contacts_ : order_).push_back(k);
  find_neighbours(problem);
  find_groups(problem);
  degree_.assign(contacts_.size(), 0);
  for (int g : groups_) degree_[g] = degree(g);
  while (!groups_.empty()) {
    const auto next = std::min_element(groups_.begin(), groups_.end(),
                                       [&](int a, int b) { return degree_[a] < degree_[b]; });
    const int group = *next;
    groups_.erase(next);
    eliminate(group);
    for (std::size_t i = group; i < contacts_.size(); ++i) {
      if (group_[i] == group) order_.push_back(contacts_[i]);
    }
  }
  return order_.data();
}

}  // namespace articula
