#include "warm_start.hpp"

#include <algorithm>

#include "solvers/mode_update.hpp"

namespace articula {

// Both lists are in canonical order, so the entry wanted is almost always near the last one found.
void read_warm_start(const WarmStart& warm, ContactRows& rows, double gravity_step) {
  for (const Island& island : rows.islands())
    guess_modes(rows.problem(island, gravity_step), rows.mode.data() + island.row_begin);
  const size_t count = warm.entries.size();
  size_t next = 0;
  for (const Item& item : rows.items()) {
    for (size_t tried = 0; tried < count; ++tried) {
      const size_t i = (next + tried) % count;
      const WarmStart::Entry& entry = warm.entries[i];
      if (entry.key != item.key) continue;
      if (entry.rows == item.rows)
        std::copy(entry.mode.begin(), entry.mode.begin() + entry.rows, rows.mode.begin() + rows.row_of(item));
      next = i + 1;
      break;
    }
  }
}

// A contact that yields stands still: its next guess is to hold.
void write_warm_start(const ContactRows& rows, FrictionLaw law, WarmStart& warm) {
  warm.law = law;
  warm.entries.clear();
  for (const Item& item : rows.items()) {
    WarmStart::Entry entry{.key = item.key, .rows = static_cast<std::uint8_t>(item.rows)};
    const RowMode* mode = rows.mode.data() + rows.row_of(item);
    for (int i = 0; i < item.rows; ++i) entry.mode[i] = mode[i] == RowMode::yield ? RowMode::hold : mode[i];
    warm.entries.push_back(entry);
  }
}

}  // namespace articula
