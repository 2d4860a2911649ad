#include "warm_start.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/mode_update.hpp"

namespace articula {

namespace {

bool on_cone(const WarmStart::Entry& entry) {
  return entry.rows > 1 && (entry.mode[1] == RowMode::slide || entry.mode[1] == RowMode::yield);
}

int block_of(const ContactRows& rows, const Item& item) {
  return rows.islands()[item.island].block_begin + item.block;
}

// Modes that a row can have, and impulses that are within the bounds of these modes.
bool fits(const Block& block, FrictionLaw law, double rounding, const WarmStart::Entry& entry) {
  if (block.kind == BlockKind::equality || block.kind == BlockKind::interval) return true;
  const RowMode* mode = entry.mode.data();
  const double* lam = entry.impulse.data();
  const RowMode tangent = mode[1 % block.dim];
  const bool alike = std::all_of(mode + 1, mode + block.dim, [&](RowMode each) { return each == tangent; });
  if (mode[0] == RowMode::free) {
    const bool unloaded =
        std::all_of(lam, lam + block.dim, [&](double x) { return std::abs(x) <= rounding; });
    return alike && unloaded && tangent == RowMode::free;
  }
  if (mode[0] != RowMode::hold || !(lam[0] >= -rounding)) return false;
  for (int i = 1; i < block.dim; ++i) {
    const bool curved = mode[i] == RowMode::slide || mode[i] == RowMode::yield;
    if (mode[i] == RowMode::free || curved != (law == FrictionLaw::cone && mode[i] != RowMode::hold))
      return false;
    if (!(std::abs(lam[i]) <= block.mu[i - 1] * lam[0] + rounding)) return false;
  }
  return alike || law == FrictionLaw::pyramid;
}

// Of impulses; those of steps that were not solved exactly pass as well.
double rounding_of(const WarmStart& warm) {
  constexpr double relative = 1e-3;
  double largest = 0.0;
  for (const WarmStart::Entry& entry : warm.entries) {
    for (int i = 0; i < entry.rows; ++i) largest = std::max(largest, std::abs(entry.impulse[i]));
  }
  return relative * largest;
}

}  // namespace

// Both lists are in canonical order, so the entry wanted is almost always near the last one found.
bool read_warm_start(const WarmStart& warm, ContactRows& rows, double gravity_step) {
  for (const Island& island : rows.islands())
    guess_modes(rows.problem(island, gravity_step), rows.guess.data() + island.row_begin,
                rows.guessed_slides.data() + island.block_begin);
  std::fill(rows.lam.begin(), rows.lam.end(), 0.0);
  const size_t count = warm.entries.size();
  const double rounding = rounding_of(warm);
  size_t next = 0;
  bool found = false;
  for (const Item& item : rows.items()) {
    for (size_t tried = 0; tried < count; ++tried) {
      const size_t i = (next + tried) % count;
      const WarmStart::Entry& entry = warm.entries[i];
      if (entry.key != item.key) continue;
      if (entry.rows == item.rows) {
        if (!fits(rows.block(item), warm.law, rounding, entry)) return false;
        found = true;
        std::copy_n(entry.mode.begin(), entry.rows, rows.guess.begin() + rows.row_of(item));
        std::copy_n(entry.impulse.begin(), entry.rows, rows.lam.begin() + rows.row_of(item));
        if (on_cone(entry)) rows.guessed_slides[block_of(rows, item)] = entry.slide;
      }
      next = i + 1;
      break;
    }
  }
  return found;
}

void write_warm_start(const ContactRows& rows, FrictionLaw law, WarmStart& warm) {
  warm.law = law;
  warm.entries.clear();
  for (const Item& item : rows.items()) {
    WarmStart::Entry entry{.key = item.key, .rows = static_cast<std::uint8_t>(item.rows)};
    std::copy_n(rows.guess.begin() + rows.row_of(item), item.rows, entry.mode.begin());
    std::copy_n(rows.lam.begin() + rows.row_of(item), item.rows, entry.impulse.begin());
    if (on_cone(entry)) entry.slide = rows.guessed_slides[block_of(rows, item)];
    warm.entries.push_back(entry);
  }
  for (const CoastingDof& each : rows.coasting()) {
    WarmStart::Entry& entry = warm.entries.emplace_back();
    entry.key = each.key;
    entry.rows = 1;
    entry.mode[0] = each.mode();
    entry.impulse[0] = each.impulse;
  }
}

}  // namespace articula
