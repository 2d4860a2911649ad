#include "articula/contact/overruled.hpp"

#include <algorithm>

namespace articula {

namespace {

// The only dof of a row as (tree, place in it).
struct Place {
  int tree = -1, dof = -1;
  bool operator==(const Place&) const = default;
};

Place place_of(const ContactRows& rows, const Item& item) {
  const Quad& quad = rows.quads()[item.quad];
  Place place;
  for (int d = 0; d < quad.used[0]; ++d) {
    if (rows.J()[quad.at[0] + d][item.lane] == 0.0) continue;
    if (place.dof >= 0) return {};  // several
    place = {quad.tree[0], d};
  }
  return quad.tree[1] < 0 ? place : Place{};
}

}  // namespace

bool overruled(const ContactRows& rows, const Item& friction, const std::vector<RowMode>& modes) {
  const Place place = place_of(rows, friction);
  return place.dof >= 0 && std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
           return item.kind == RowKind::joint_limit && modes[rows.row_of(item)] == RowMode::hold &&
                  place_of(rows, item) == place;
         });
}

void overrule_friction(const ContactRows& rows, std::vector<RowMode>& modes) {
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item);
    if (item.kind == RowKind::dry_friction && modes[row] == RowMode::hold && overruled(rows, item, modes))
      modes[row] = rows.lam[row] < 0.0 ? RowMode::lower : RowMode::upper;
  }
}

}  // namespace articula
