#pragma once
// In which order contacts of many bodies are eliminated: G is zero between contacts that share no body, and
// of the factor as much stays zero as the order lets.

#include <cstdint>
#include <vector>

#include "articula/contact/problem.hpp"

namespace articula {

// Problems with fewer rows keep the order they have.
inline constexpr int worth_ordering_from = 150;

class EliminationOrder {
 public:
  void reserve(int blocks);
  void forget() { matrix_ = nullptr; }
  // Blocks one after the other: those of no contact, then contacts, at each step those with the fewest rows
  // of others that they touch (minimum degree; of several the first). Depends on where G is zero alone. Null:
  // as they stand.
  const int* of(const ContactProblem& problem);

 private:
  using Word = std::uint64_t;
  Word* neighbours(int k) { return touches_.data() + static_cast<std::size_t>(k) * words_; }
  void find_neighbours(const ContactProblem& problem);
  void find_groups(const ContactProblem& problem);
  void eliminate(int group);
  int degree(int group);

  const double* matrix_ = nullptr;
  int words_ = 0;
  std::vector<Word> touches_;  // a bit for each group (before find_groups: for each contact) that one touches
  std::vector<int> contacts_;  // blocks
  std::vector<int> group_;     // of each of them: the first contact that touches the same ones
  std::vector<int> groups_;    // those that are left
  std::vector<int> weight_, degree_;  // rows, of each group; and of its neighbours
  std::vector<int> order_;
};

}  // namespace articula
