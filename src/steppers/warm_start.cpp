#include "warm_start.hpp"

#include <algorithm>

#include "solvers/mode_update.hpp"

namespace articula {

namespace {

bool on_cone(const WarmStart::Entry& entry) {
  return entry.rows > 1 && (entry.mode[1] == RowMode::slide || entry.mode[1] == RowMode::yield);
}

int block_of(const ContactRows& rows, const Item& item) {
  return rows.islands()[item.island].block_begin + item.block;
}

}  // namespace

// Both lists are in canonical order, so the entry wanted is almost always near the last one found.
void read_warm_start(const WarmStart& warm, ContactRows& rows, double gravity_step) {
  for (const Island& island : rows.islands())
    guess_modes(rows.problem(island, gravity_step), rows.guess.data() + island.row_begin,
                rows.guessed_slides.data() + island.block_begin);
  std::fill(rows.lam.begin(), rows.lam.end(), 0.0);
  const size_t count = warm.entries.size();
  size_t next = 0;
  for (const Item& item : rows.items()) {
    for (size_t tried = 0; tried < count; ++tried) {
      const size_t i = (next + tried) % count;
      const WarmStart::Entry& entry = warm.entries[i];
      if (entry.key != item.key) continue;
      if (entry.rows == item.rows) {
        std::copy_n(entry.mode.begin(), entry.rows, rows.guess.begin() + rows.row_of(item));
        std::copy_n(entry.impulse.begin(), entry.rows, rows.lam.begin() + rows.row_of(item));
        if (on_cone(entry)) rows.guessed_slides[block_of(rows, item)] = entry.slide;
      }
      next = i + 1;
      break;
    }
  }
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
