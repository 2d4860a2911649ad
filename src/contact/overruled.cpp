#include "articula/contact/overruled.hpp"

#include <algorithm>
#include <cmath>

namespace articula {

namespace {

// The only dof that a row acts on; negative: there are several.
int only_dof(const ContactRows& rows, const Item& item) {
  const Quad& quad = rows.quads()[item.quad];
  int dof = -1;
  for (int d = 0; d < quad.used[0]; ++d) {
    if (rows.J()[quad.at[0] + d][item.lane] == 0.0) continue;
    if (dof >= 0) return -1;
    dof = rows.first_dof(quad.tree[0]) + d;
  }
  return quad.tree[1] < 0 ? dof : -1;
}

// Dry friction whose joint, or tendon, is held by an end of its range: of these there are few.
template <class Call>
void for_each_overruled(const ContactRows& rows, const std::vector<RowMode>& modes, const Call& call) {
  for (const Item& limit : rows.items()) {
    const bool joint = limit.kind == RowKind::joint_limit, tendon = limit.kind == RowKind::tendon_limit;
    if (!(joint || tendon) || modes[rows.row_of(limit)] != RowMode::hold) continue;
    const RowKind friction = joint ? RowKind::dry_friction : RowKind::tendon_friction;
    const int index = joint ? only_dof(rows, limit) : limit.index;
    for (const Item& item : rows.items()) {
      if (item.kind == friction && item.index == index) call(item);
    }
  }
}

// Tangents of a contact in a planar robot both see its one direction.
bool parallel(const ContactProblem& problem, int i, int j) {
  const double gi = problem.g(i, i), gj = problem.g(j, j), gij = problem.g(i, j);
  return gi > 0.0 && gj > 0.0 && gi * gj - gij * gij <= 1e-12 * gi * gj;
}

// A contact of a pyramid that stands still, one of two parallel tangents at its bound: the other holds.
void overrule_tangent(const ContactRows& rows, const Item& item, std::vector<RowMode>& modes) {
  const int row = rows.row_of(item);
  const Block& block = rows.block(item);
  for (int i = 0; i < 3; ++i) {
    if (modes[row + i] != RowMode::hold) return;
  }
  const double used[2] = {std::abs(rows.lam[row + 1]) / (block.mu[0] * rows.lam[row]),
                          std::abs(rows.lam[row + 2]) / (block.mu[1] * rows.lam[row])};
  const int full = used[0] > used[1] ? 0 : 1;
  constexpr double all = 1.0 - 1e-9;
  if (!(used[full] >= all && used[1 - full] < all)) return;
  const ContactProblem problem = rows.problem(rows.islands()[item.island], 0.0);
  if (problem.law != FrictionLaw::pyramid || !parallel(problem, block.first + 1, block.first + 2)) return;
  modes[row + 1 + full] = rows.lam[row + 1 + full] < 0.0 ? RowMode::yield_lower : RowMode::yield_upper;
}

// A contact that carries nothing where others between the same trees do: it may part, or come to carry
// something, and they hold the trees together as they did.
bool idles(const ContactRows& rows, const Item& item) {
  const Quad& quad = rows.quads()[item.quad];
  return rows.lam[rows.row_of(item)] <= 0.0 &&
         std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& other) {
           const Quad& there = rows.quads()[other.quad];
           return other.kind == RowKind::contact && there.tree[0] == quad.tree[0] &&
                  there.tree[1] == quad.tree[1] && rows.lam[rows.row_of(other)] > 0.0;
         });
}

}  // namespace

namespace {

// An end of a range that is reached and carries nothing: others hold the joint there (the end of another one
// that is coupled to it), or it may leave.
void free_idle_limits(const ContactRows& rows, std::vector<RowMode>& modes) {
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item);
    const bool limit = item.kind == RowKind::joint_limit || item.kind == RowKind::tendon_limit;
    if (limit && modes[row] == RowMode::hold && rows.lam[row] <= 0.0) modes[row] = RowMode::free;
  }
}

}  // namespace

bool overruled(const ContactRows& rows, const Item& friction, const std::vector<RowMode>& modes) {
  const bool dry = friction.kind == RowKind::dry_friction;
  if (!dry && friction.kind != RowKind::tendon_friction) return false;
  const RowKind limit = dry ? RowKind::joint_limit : RowKind::tendon_limit;
  return std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
    return item.kind == limit && modes[rows.row_of(item)] == RowMode::hold &&
           (dry ? only_dof(rows, item) : item.index) == friction.index;
  });
}

void hold_overruled(const ContactRows& rows, const std::vector<RowMode>& modes,
                    std::vector<RowMode>& motion) {
  for_each_overruled(rows, modes, [&](const Item& item) { motion[rows.row_of(item)] = RowMode::hold; });
}

void hold_within_bound(const ContactRows& rows, const Item& contact, RowMode* modes) {
  constexpr double within = 1.0 - 1e-3;
  const int row = rows.row_of(contact);
  const Block& block = rows.block(contact);
  const double normal = rows.lam[row];
  double opposes = 0.0, speed = 0.0;
  for (int i = 0; i + 1 < contact.rows; ++i) {
    const double used = rows.lam[row + 1 + i] / block.mu[i], slip = block.mu[i] * rows.sigma[row + 1 + i];
    opposes -= used * slip;
    speed += slip * slip;
    RowMode& mode = modes[1 + i];
    const bool bounded = mode == RowMode::upper || mode == RowMode::lower;
    if (bounded && std::abs(used) < within * normal) mode = RowMode::hold;
  }
  if (modes[1] == RowMode::slide && opposes < within * normal * std::sqrt(speed))
    std::fill(modes + 1, modes + contact.rows, RowMode::hold);
}

namespace {

void keep_impulse(const ContactRows& rows, const Item& friction, std::vector<RowMode>& modes) {
  RowMode& mode = modes[rows.row_of(friction)];
  if (mode == RowMode::hold) mode = rows.lam[rows.row_of(friction)] < 0.0 ? RowMode::lower : RowMode::upper;
}

}  // namespace

void overrule_friction(const ContactRows& rows, std::vector<RowMode>& modes) {
  free_idle_limits(rows, modes);
  for_each_overruled(rows, modes, [&](const Item& item) { keep_impulse(rows, item, modes); });
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item);
    if (item.kind != RowKind::contact || modes[row] == RowMode::free) continue;
    if (idles(rows, item)) {
      std::fill(modes.begin() + row, modes.begin() + row + item.rows, RowMode::free);
      continue;
    }
    if (item.rows > 1 && rows.lam[row] > 0.0) hold_within_bound(rows, item, modes.data() + row);
    if (item.rows == 3 && rows.lam[row] > 0.0) overrule_tangent(rows, item, modes);
  }
}

namespace {

bool something_slides(const ContactRows& rows, int island, const std::vector<RowMode>& modes) {
  return std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
    if (item.island != island || item.kind != RowKind::contact) return false;
    const auto first = modes.begin() + rows.row_of(item);
    return std::any_of(first, first + item.rows, [](RowMode mode) {
      return mode == RowMode::slide || mode == RowMode::upper || mode == RowMode::lower;
    });
  });
}

}  // namespace

bool mark_yielding(const ContactRows& rows, std::vector<RowMode>& modes) {
  constexpr double all = 1.0 - 1e-9;
  bool any = false;
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item);
    if (item.kind != RowKind::contact || item.rows == 1 || !(rows.lam[row] > 0.0)) continue;
    if (modes[row] != RowMode::hold || !something_slides(rows, item.island, modes)) continue;
    const Block& block = rows.block(item);
    const FrictionLaw law = rows.problem(rows.islands()[item.island], 0.0).law;
    double squared = 0.0;
    bool holds = true;
    for (int i = 1; i < item.rows; ++i) {
      const double used = rows.lam[row + i] / (block.mu[i - 1] * rows.lam[row]);
      squared += used * used;
      if (modes[row + i] != RowMode::hold) holds = false;
      if (law != FrictionLaw::pyramid || modes[row + i] != RowMode::hold || std::abs(used) < all) continue;
      modes[row + i] = used > 0.0 ? RowMode::yield_upper : RowMode::yield_lower;
      any = true;
    }
    if (law != FrictionLaw::cone || !holds || squared < all * all) continue;
    std::fill(modes.begin() + row + 1, modes.begin() + row + item.rows, RowMode::yield);
    any = true;
  }
  return any;
}

}  // namespace articula
