#include "articula/collision/detect.hpp"

#include <algorithm>

#include "apart.hpp"
#include "articula/collision/passing.hpp"
#include "field_prism.hpp"
#include "pairs.hpp"
#include "response.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Placement link_placement(const Data& data, int link) {
  return {data.link_R[at(link)], data.link_reference[at(link)] + data.link_r[at(link)]};
}

const Placement& place(const Colliders& colliders, const Data& data, Contacts& contacts, int c) {
  if (!contacts.placed[at(c)]) {
    contacts.placement[at(c)] = collider_placement(colliders, data, c);
    contacts.placed[at(c)] = 1;
  }
  return contacts.placement[at(c)];
}

bool plane_is_near(const Placement& plane, Vec3 centre, double reach) {
  return dot(plane.R.z, centre - plane.p) <= reach;
}

// Spheres apart (or above the plane): nothing to do.
bool near_enough(const Colliders& colliders, const Data& data, Contacts& contacts, const ColliderPair& pair,
                 double margin, double reach) {
  const Collider &a = colliders.list()[at(pair.a)], &b = colliders.list()[at(pair.b)];
  if (a.shape.type == ShapeType::plane)
    return plane_is_near(place(colliders, data, contacts, pair.a), contacts.centre[at(pair.b)],
                         b.radius + margin);
  if (b.shape.type == ShapeType::plane)
    return plane_is_near(place(colliders, data, contacts, pair.b), contacts.centre[at(pair.a)],
                         a.radius + margin);
  return squared_norm(contacts.centre[at(pair.a)] - contacts.centre[at(pair.b)]) <= reach * reach;
}

double extra_reach(const Contacts& contacts, const ColliderPair& pair) {
  return contacts.reach[at(pair.a)] + contacts.reach[at(pair.b)];
}

// The contacts of a pair that are wanted; 0 if some of them are not to be had. Which points of two faces or
// edges there are may depend on how far is looked: if not as far as now, then as far as where they were
// found.
int wanted_contacts(const Contacts& contacts, const ColliderPair& pair, const Shape& a, const Placement& at_a,
                    const Shape& b, const Placement& at_b, double margin, ContactPoint* out) {
  const auto of_pair = [&](const WantedContact& w) { return w.a == pair.a && w.b == pair.b; };
  const auto first = std::find_if(contacts.wanted.begin(), contacts.wanted.end(), of_pair);
  if (first == contacts.wanted.end()) return 0;
  Uncleared<ContactPoint, most_candidates> buffer;
  ContactPoint* candidates = buffer.data();
  for (const double looked : {margin, margin - extra_reach(contacts, pair) + first->reach}) {
    const int many = collide_unchecked(a, at_a, b, at_b, looked, candidates, most_candidates);
    int count = 0;
    const bool all = std::all_of(first, contacts.wanted.end(), [&](const WantedContact& w) {
      if (!of_pair(w)) return true;
      const ContactPoint* found = std::find_if(candidates, candidates + many, [&](const ContactPoint& c) {
        return c.feature_a == w.feature_a && c.feature_b == w.feature_b;
      });
      if (found == candidates + many || count == max_contact_points) return false;
      out[count++] = *found;
      return true;
    });
    if (all) return count;
  }
  return 0;
}

// `gap`: where they were apart the last time, or nothing.
void touch(const Colliders& colliders, const Data& data, Contacts& contacts, const ColliderPair& pair,
           double margin, GapGuess* gap) {
  const Placement& pa = place(colliders, data, contacts, pair.a);
  const Placement& pb = place(colliders, data, contacts, pair.b);
  const Shape &a = colliders.list()[at(pair.a)].shape, &b = colliders.list()[at(pair.b)].shape;
  const bool may_be_told_apart = has_hull(a, b);
  if (may_be_told_apart && boxes_are_apart(a, pa, b, pb, margin)) return;
  if (may_be_told_apart && gap && are_apart_along(a, pa, b, pb, margin, *gap)) return;
  ContactPoint points[max_contact_points];
  int count = wanted_contacts(contacts, pair, a, pa, b, pb, margin, points);
  if (count == 0) count = collide_unchecked(a, pa, b, pb, margin, points);
  if (may_be_told_apart && gap && count == 0) find_gap(a, pa, b, pb, margin, *gap);
  for (int i = 0; i < count; ++i) {
    if (static_cast<int>(contacts.list.size()) == contacts.capacity) {
      contacts.status = DetectStatus::overflow;
      return;
    }
    contacts.list.push_back({points[i], pair});
  }
}

// Sort by the low end along x, then look ahead as far as the spheres overlap. Endless shapes meet everything.
void sweep(const Colliders& colliders, const Data& data, Contacts& contacts) {
  const auto& list = colliders.list();
  const auto extent = [&](int i) {
    return list[at(i)].radius + contacts.widest_margin[at(i)] + contacts.reach[at(i)];
  };
  const auto low = [&](int i) { return contacts.centre[at(i)][0] - extent(i); };
  std::sort(contacts.order.begin(), contacts.order.end(),
            [&](int i, int j) { return low(i) != low(j) ? low(i) < low(j) : i < j; });
  contacts.candidates.clear();
  const int n = static_cast<int>(contacts.order.size());
  for (int i = 0; i < n; ++i) {
    const int a = contacts.order[at(i)];
    const double high = contacts.centre[at(a)][0] + extent(a);
    for (int j = i + 1; j < n && low(contacts.order[at(j)]) <= high; ++j) {
      const int b = contacts.order[at(j)];
      const ColliderPair pair{std::min(a, b), std::max(a, b), -1};
      if (!colliders.may_touch(pair.a, pair.b)) continue;
      const double margin = colliders.margin({pair.a, pair.b, colliders.written_pair(pair.a, pair.b)}) +
                            extra_reach(contacts, pair);
      if (!near_enough(colliders, data, contacts, pair, margin,
                       list[at(a)].radius + list[at(b)].radius + margin))
        continue;
      if (contacts.candidates.size() == contacts.candidates.capacity()) {
        contacts.status = DetectStatus::overflow;
        break;
      }
      contacts.candidates.emplace_back(pair.a, pair.b);
    }
  }
  std::sort(contacts.candidates.begin(), contacts.candidates.end());
  for (const auto& [a, b] : contacts.candidates) {
    const ColliderPair pair{a, b, colliders.written_pair(a, b)};
    touch(colliders, data, contacts, pair, colliders.margin(pair) + extra_reach(contacts, pair), nullptr);
  }
}

}  // namespace

Contacts::Contacts(const Colliders& colliders, int room) {
  const std::size_t n = colliders.list().size();
  const std::size_t most = colliders.swept() ? 16 * n : colliders.pairs().size() * max_contact_points;
  capacity = room > 0 ? room : static_cast<int>(std::min<std::size_t>(most, 4096));
  if (colliders.swept() && room <= 0) capacity = static_cast<int>(most);
  list.reserve(at(capacity));
  passing.reserve(at(capacity));
  placement.resize(n);
  placed.resize(n);
  centre.resize(n);
  reach.assign(n, 0.0);
  for (const ColliderPair& pair : colliders.pairs()) pair_margin.push_back(colliders.margin(pair));
  pair_reach.resize(pair_margin.size());
  pair_gap.assign(pair_margin.size(), {});
  widest_margin.assign(n, 0.0);
  for (std::size_t k = 0; k < pair_margin.size(); ++k)
    for (const int i : {colliders.pairs()[k].a, colliders.pairs()[k].b})
      widest_margin[at(i)] = std::max(widest_margin[at(i)], pair_margin[k]);
  for (auto* lanes : {&x, &y, &z, &extent}) lanes->resize(n + 4);
  set_numbers(colliders);
  if (!colliders.swept()) return;
  for (std::size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<int>(i));
    widest_margin[i] = colliders.widest_margin(static_cast<int>(i));
  }
  candidates.reserve(32 * n);
}

void Contacts::set_numbers(const Colliders& colliders) {
  for (std::size_t k = 0; k < pair_reach.size(); ++k) {
    const ColliderPair& pair = colliders.pairs()[k];
    pair_reach[k] =
        colliders.list()[at(pair.a)].radius + colliders.list()[at(pair.b)].radius + pair_margin[k];
  }
}

Placement collider_placement(const Colliders& colliders, const Data& data, int c) {
  const Collider& collider = colliders.list()[at(c)];
  return link_placement(data, collider.link) * collider.in_link;
}

namespace {

using Mask = decltype(Lanes{} < Lanes{});

// Four spheres at a time against one. Those near enough are looked at again with their own pair's margin.
void look_along(const Colliders& colliders, const Data& data, Contacts& contacts, const ColliderRun& run) {
  const auto& c = contacts;
  const Lanes x = broadcast(c.x[at(run.a)]), y = broadcast(c.y[at(run.a)]), z = broadcast(c.z[at(run.a)]);
  const Lanes extent = broadcast(c.extent[at(run.a)]);
  for (int i = 0; i < run.count; i += 4) {
    const std::size_t b = at(run.first + i);
    const Lanes dx = load4(&c.x[b]) - x, dy = load4(&c.y[b]) - y, dz = load4(&c.z[b]) - z;
    const Lanes reach = load4(&c.extent[b]) + extent;
    const Mask near = dx * dx + dy * dy + dz * dz <= reach * reach;
    if ((near[0] | near[1] | near[2] | near[3]) == 0) continue;
    for (int lane = 0; lane < 4 && i + lane < run.count; ++lane) {
      if (near[lane] == 0) continue;
      const std::size_t k = at(run.pair + i + lane);
      const ColliderPair& pair = colliders.pairs()[k];
      const double extra = extra_reach(contacts, pair), margin = contacts.pair_margin[k] + extra;
      if (near_enough(colliders, data, contacts, pair, margin, contacts.pair_reach[k] + extra))
        touch(colliders, data, contacts, pair, margin, &contacts.pair_gap[k]);
    }
  }
}

}  // namespace

DetectStatus detect(const Colliders& colliders, const Model&, const Data& data, Contacts& contacts) {
  contacts.list.clear();
  contacts.status = DetectStatus::ok;
  if (colliders.has_height_fields())
    prepare_prism();  // in the first step of a thread, not where it first lands
  std::fill(contacts.placed.begin(), contacts.placed.end(), static_cast<unsigned char>(0));
  const int n = static_cast<int>(colliders.list().size());
  for (int i = 0; i < n; ++i) {
    const Collider& c = colliders.list()[at(i)];
    const Vec3 centre =
        data.link_reference[at(c.link)] + (data.link_r[at(c.link)] + data.link_R[at(c.link)] * c.centre);
    contacts.centre[at(i)] = centre;
    contacts.x[at(i)] = centre[0], contacts.y[at(i)] = centre[1], contacts.z[at(i)] = centre[2];
    contacts.extent[at(i)] = c.radius + contacts.widest_margin[at(i)] + contacts.reach[at(i)];
  }
  if (colliders.swept()) {
    sweep(colliders, data, contacts);
  } else {
    for (const ColliderRun& run : colliders.runs()) look_along(colliders, data, contacts, run);
  }
  contacts.passing_begin = static_cast<int>(contacts.list.size());
  add_passing(colliders, data, contacts);
  return contacts.status;
}

ContactDerivatives differentiate(const Colliders& colliders, const Data& data, const Contacts& contacts,
                                 int i) {
  ContactDerivatives out;
  differentiate(colliders, data, contacts, i, true, true, out);
  return out;
}

void differentiate(const Colliders& colliders, const Data& data, const Contacts& contacts, int i,
                   bool moves_a, bool moves_b, ContactDerivatives& out) {
  const Contact& c = contacts.list[at(i)];
  const Shape &a = colliders.list()[at(c.pair.a)].shape, &b = colliders.list()[at(c.pair.b)].shape;
  if (differentiate_on_fixed_face(b, c.point, moves_a, out)) return;
  differentiate(a, collider_placement(colliders, data, c.pair.a), b,
                collider_placement(colliders, data, c.pair.b), c.point, moves_a, moves_b, out);
}

}  // namespace articula::collision
