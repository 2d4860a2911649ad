#include <algorithm>
#include <cmath>

#include "articula/contact/overruled.hpp"
#include "articula/contact/rows.hpp"

namespace articula {

const FrozenModes::Entry* FrozenModes::find(std::uint64_t key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::vector<std::uint64_t> FrozenModes::keys_of(const collision::Contacts& contacts) const {
  constexpr double there = 1e-3;  // m
  std::vector<std::uint64_t> keys;
  for (const collision::Contact& contact : contacts.list) keys.push_back(contact_key(contact));
  const std::vector<std::uint64_t> own = keys;
  for (const Entry& entry : entries) {
    if (entry.collider_a < 0 || std::find(own.begin(), own.end(), entry.key) != own.end()) continue;
    int nearest = -1;
    double least = there;
    for (size_t i = 0; i < keys.size(); ++i) {
      const collision::Contact& contact = contacts.list[i];
      const bool taken = keys[i] != own[i] || find(own[i]) != nullptr;
      if (taken || contact.pair.a != entry.collider_a || contact.pair.b != entry.collider_b) continue;
      const double distance = norm(contact.point.position - entry.position);
      if (distance < least) least = distance, nearest = static_cast<int>(i);
    }
    if (nearest >= 0) keys[static_cast<size_t>(nearest)] = entry.key;
  }
  return keys;
}

void FrozenModes::call_contacts(const collision::Colliders& colliders, collision::Contacts& contacts) const {
  // A contact that is held is one however far its bodies are apart: beyond what a difference moves them by.
  constexpr double farther = 5e-3;  // m
  const std::vector<double> before = contacts.reach;
  for (const Entry& entry : entries) {
    const bool contact = entry.collider_a >= 0, carries = entry.mode[0] != RowMode::free;
    if (contact && carries && !entry.passing) {
      const auto a = static_cast<size_t>(entry.collider_a), b = static_cast<size_t>(entry.collider_b);
      contacts.wanted.push_back(
          {entry.collider_a, entry.collider_b, entry.feature_a, entry.feature_b, before[a] + before[b]});
      for (const size_t i : {a, b}) contacts.reach[i] = std::max(contacts.reach[i], farther);
    }
    if (!entry.passing || contacts.passing.size() == contacts.passing.capacity()) continue;
    const int a = entry.collider_a, b = entry.collider_b;
    contacts.passing.push_back(
        {{a, b, colliders.written_pair(a, b)}, entry.feature_a, entry.feature_b, entry.frame.n});
  }
}

FrozenModes::Entry FrozenModes::in_frame(const Entry& entry, const collision::ContactFrame& frame) {
  if (!entry.any_tangents) return entry;
  Entry turned = entry;
  const double cosine = dot(entry.frame.t1, frame.t1), sine = dot(entry.frame.t2, frame.t1);
  const auto turn = [&](double* pair) {
    const double x = pair[0], y = pair[1];
    pair[0] = cosine * x + sine * y;
    pair[1] = cosine * y - sine * x;
  };
  if (entry.rows >= 3) turn(turned.lam.data() + 1), turn(turned.slack.data() + 1), turn(turned.slide.d);
  if (entry.rows == 6) turn(turned.lam.data() + 4), turn(turned.slack.data() + 4), turn(turned.slide.d + 3);
  return turned;
}

// A contact that yields stands still: it holds, unless what slides beside it feels that it has no more to
// give; its friction then keeps to its cone.
FrozenModes freeze(const ContactRows& rows, const collision::Contacts& contacts) {
  FrozenModes frozen;
  frozen.reach = contacts.reach;
  std::vector<RowMode> modes = rows.mode;
  overrule_friction(rows, modes);
  mark_yielding(rows, modes);
  for (const Item& item : rows.items()) {
    FrozenModes::Entry& entry = frozen.entries.emplace_back();
    entry.key = item.key;
    entry.rows = item.rows;
    entry.bias = item.bias;
    if (item.kind == RowKind::contact) {
      const collision::Contact& contact = contacts.list[static_cast<size_t>(item.index)];
      entry.frame = rows.frame(item);
      entry.any_tangents = rows.any_tangents(item.index);
      entry.collider_a = contact.pair.a;
      entry.collider_b = contact.pair.b;
      entry.position = contact.point.position;
      entry.passing = item.index >= contacts.passing_begin;
      entry.feature_a = contact.point.feature_a;
      entry.feature_b = contact.point.feature_b;
    }
    const int at = rows.row_of(item);
    const Block& block = rows.block(item);
    double squared = 0.0;
    for (int i = 0; i < item.rows; ++i) {
      entry.mode[i] = modes[at + i];
      entry.lam[i] = rows.lam[at + i];
      if (i > 0 && item.kind == RowKind::contact) {
        entry.slide.d[i - 1] = modes[at + 1] == RowMode::yield ? -rows.lam[at + i] / block.mu[i - 1]
                                                               : block.mu[i - 1] * rows.sigma[at + i];
        squared += entry.slide.d[i - 1] * entry.slide.d[i - 1];
      }
    }
    entry.slide.speed = std::sqrt(squared);
    entry.slide.normal = std::max(entry.lam[0], 1e-300);
    for (double& d : entry.slide.d) d = squared > 0.0 ? d / entry.slide.speed : 0.0;
    if (item.rows > 1 && entry.mode[1] == RowMode::yield) entry.slide.speed = 0.0;
  }
  for (const CoastingDof& each : rows.coasting()) {
    FrozenModes::Entry& entry = frozen.entries.emplace_back();
    entry.key = each.key;
    entry.rows = 1;
    entry.bias = BiasMode::none;
    entry.mode[0] = each.mode();
    entry.lam[0] = each.impulse;
  }
  return frozen;
}

}  // namespace articula
