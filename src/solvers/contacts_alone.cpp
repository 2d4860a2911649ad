#include "articula/solvers/contacts_alone.hpp"

#include <algorithm>

#include "mode_update.hpp"

namespace articula {

namespace {

constexpr int most_passes = 10;

// Whether other rows are so many that this pays.
bool worthwhile(const ContactProblem& problem) {
  constexpr int enough = 24;
  int others = problem.size;
  for (const Block& block : problem.blocks) others -= block.kind == BlockKind::contact ? block.dim : 0;
  return others >= enough;
}

}  // namespace

void ContactsAlone::reserve(int rows, int blocks) {
  blocks += 3;  // rows that hold and are left over, as whole groups of four are eliminated
  system_.reserve(rows, blocks);
  blocks_.reserve(blocks);
  origin_.reserve(blocks);
  mode_.reserve(rows);
  slides_.reserve(blocks);
  motion_.reserve(blocks);
  for (std::vector<double>* vector : {&velocity_, &b_, &lam_, &soft_}) vector->reserve(rows);
  seen_.reserve(most_passes);
}

bool ContactsAlone::eliminate(const ContactProblem& problem, ModeSystem& system, const RowMode* mode,
                              const SlideState* slides) {
  CondensedRows* condensed = worthwhile(problem) ? system.condensed(problem, mode, slides) : nullptr;
  if (condensed == nullptr) return false;
  const PlacedRows rest = condensed->rest();
  const std::vector<double>& moved = system.fix_bounds(problem, mode);
  velocity_.resize(problem.size);
  for (int i = 0; i < problem.size; ++i) velocity_[i] = problem.b[i] + moved[i];

  b_.assign(rest.size, 0.0);
  condensed->follow(velocity_.data(), b_.data());
  blocks_.clear();
  origin_.clear();
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const bool contact = block.kind == BlockKind::contact;
    for (int i = block.first; i < block.first + block.dim; i += contact ? block.dim : 1) {
      if (!condensed->has_place(i)) continue;
      Block& here = blocks_.emplace_back(block);
      here.first = rest.place_of(i);
      here.mobility = problem.mobility(block);
      origin_.push_back(contact ? static_cast<int>(k) : -1);
      if (contact) continue;
      here.kind = BlockKind::equality;
      here.dim = 1;
    }
  }
  problem_ = problem;
  problem_.blocks = blocks_;
  problem_.size = rest.size;
  problem_.G = rest.data;
  problem_.stride = rest.stride;
  problem_.roots = nullptr;
  problem_.b = b_.data();
  problem_.bias = nullptr;
  return true;
}

void ContactsAlone::begin(double softness) {
  system_.forget();
  system_.begin(problem_, nullptr, softness);
  lam_.resize(problem_.size);
  soft_.resize(problem_.size);
}

bool ContactsAlone::find(double softness) {
  begin(softness);
  seen_.clear();
  double before = 1.0;
  for (int step = 0; step < most_passes; ++step) {
    double turned = 0.0;
    if (!system_.soft_step(problem_, mode_.data(), slides_.data(), lam_.data(), soft_.data(), turned))
      return false;
    const std::uint64_t hash = hash_modes(mode_.data(), problem_.size);
    if (update_modes(problem_, softness, lam_.data(), soft_.data(), motion_, false, mode_.data(),
                     slides_.data()) == 0) {
      const double error = std::max(turned, 1e-13);
      const bool sure = !near_edge(problem_, mode_.data(), slides_.data(), error);
      if (turned <= turning && (sure || turned > 0.5 * before)) return true;
      before = turned;
      continue;
    }
    if (std::count(seen_.begin(), seen_.end(), hash) >= 1) return false;
    seen_.push_back(hash);
  }
  return false;
}

void ContactsAlone::take(const RowMode* mode, const SlideState* slides, const ContactProblem& problem) {
  mode_.assign(problem_.size, RowMode::hold);
  slides_.assign(blocks_.size(), {});
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (origin_[k] < 0) continue;
    std::copy_n(mode + problem.blocks[origin_[k]].first, blocks_[k].dim, mode_.begin() + blocks_[k].first);
    slides_[k] = slides[origin_[k]];
  }
}

bool ContactsAlone::settle(const ContactProblem& problem, ModeSystem& system,
                           const std::vector<KnownMotion>& motion, RowMode* mode, SlideState* slides) {
  if (!eliminate(problem, system, mode, slides)) return false;
  take(mode, slides, problem);
  motion_.assign(blocks_.size(), KnownMotion::unknown);
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (origin_[k] >= 0) motion_[k] = motion[origin_[k]];
  }
  if (!find(system.softness())) return false;
  round_directions(problem_, mode_.data(), slides_.data());
  const bool turned = turn_yielding();
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (origin_[k] < 0) continue;
    std::copy_n(mode_.begin() + blocks_[k].first, blocks_[k].dim, mode + problem.blocks[origin_[k]].first);
    slides[origin_[k]] = slides_[k];
  }
  return turned;
}

// Directions of what yields come from soft velocities, and stay; what slides is turned by hard ones later.
bool ContactsAlone::turn_yielding() {
  const bool some =
      std::any_of(mode_.begin(), mode_.end(), [](RowMode mode) { return mode == RowMode::yield; });
  return !some ||
         system_.settle_directions(problem_, mode_.data(), slides_.data(), lam_.data(), soft_.data());
}

bool ContactsAlone::turn(const ContactProblem& problem, ModeSystem& system, const RowMode* mode,
                         SlideState* slides) {
  if (!eliminate(problem, system, mode, slides)) return false;
  take(mode, slides, problem);
  begin(system.softness());
  if (!turn_yielding()) return false;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (origin_[k] >= 0) slides[origin_[k]] = slides_[k];
  }
  return true;
}

}  // namespace articula
