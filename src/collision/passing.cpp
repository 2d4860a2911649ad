#include "articula/collision/passing.hpp"

#include <algorithm>

#include "apart.hpp"
#include "articula/math/lie.hpp"
#include "features.hpp"
#include "frame_of_a.hpp"
#include "off_grid.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

// Shallower overlaps, relative to the smaller shape, are left to the next step.
constexpr double noticed = 1e-3;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_capsule(const Shape& s) { return s.type == ShapeType::capsule; }
bool has_edges(const Shape& s) {
  return s.type == ShapeType::box || s.type == ShapeType::mesh || is_capsule(s);
}

bool are_lines(Feature a, Feature b) { return a.kind == FeatureKind::line && b.kind == FeatureKind::line; }

// Lines that cross, a corner and a face: what has a distance wherever it is. Points of capsules have one from
// lines as well.
bool can_pass(const Shape& a, const Shape& b, Feature feature_a, Feature feature_b) {
  if (are_lines(feature_a, feature_b)) return true;
  const auto is_point_on = [](const Shape& shape, Feature point, Feature other) {
    return point.kind == FeatureKind::point &&
           (other.kind == FeatureKind::face || (is_capsule(shape) && other.kind == FeatureKind::line));
  };
  return is_point_on(a, feature_a, feature_b) || is_point_on(b, feature_b, feature_a);
}

// The axis of a capsule, of two the shorter, that crosses a line: of the points of the axis that nearest to
// the crossing stands for it. Lines that are nearly parallel cross elsewhere with every step, and what is
// linear in the motion tells little of their distance; a point of one of them stays what it is.
void take_point_of_axis(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                        ContactPoint& point) {
  if (!are_lines(point.feature_a, point.feature_b)) return;
  const bool of_a = is_capsule(a) && (!is_capsule(b) || a.size[1] <= b.size[1]);
  const Shape& capsule = of_a ? a : b;
  const Placement& at = of_a ? at_a : at_b;
  if (!is_capsule(capsule) || !(capsule.size[1] > 0.0)) return;
  const double place = dot(at.R.z, point.position - at.p) / capsule.size[1];
  (of_a ? point.feature_a : point.feature_b) = {FeatureKind::point, nearest_axis_point(place)};
}

// x+ = x + h v about the origin of the link, which turns by h w
Placement moved(const Colliders& colliders, const Data& data, int c, double dt) {
  const Placement now = collider_placement(colliders, data, c);
  const int link = colliders.list()[static_cast<std::size_t>(c)].link;
  if (link == 0) return now;
  const Motion& motion = data.link_v[link];
  const Vec3 r = data.link_r[link], origin = data.link_reference[link] + r;
  const Mat3 turn = rotation_matrix(exp_rotation(motion.angular * dt));
  return {turn * now.R, origin + point_velocity(motion, r) * dt + turn * (now.p - origin)};
}

bool is_listed(const Contacts& contacts, const ColliderPair& pair, const ContactPoint& point) {
  return std::any_of(contacts.list.begin(), contacts.list.end(), [&](const Contact& c) {
    return c.pair.a == pair.a && c.pair.b == pair.b && c.point.feature_a == point.feature_a &&
           c.point.feature_b == point.feature_b;
  });
}

// Whether a point of a line, as far as it reaches, or of a face is where it could touch within the step.
bool is_within(const Shape& shape, const Placement& at, Feature feature, Vec3 x, double reach) {
  if (feature.kind != FeatureKind::line) return true;
  const Segment s = line_of(shape, feature.index);
  const double length = norm(s.along), along = dot(at.R * s.along, x - at * s.from) / length;
  return along >= -reach && along <= length + reach;
}

double extra_reach(const Contacts& contacts, const ColliderPair& pair) {
  return contacts.reach[at(pair.a)] + contacts.reach[at(pair.b)];
}

// Whether a contact is the first of its pair, and the pair may pass into each other within the step.
bool is_fast_pair(const Colliders& colliders, const Contacts& contacts, std::size_t i) {
  const ColliderPair& pair = contacts.list[i].pair;
  if (i > 0 && contacts.list[i - 1].pair.a == pair.a && contacts.list[i - 1].pair.b == pair.b) return false;
  const Shape &a = colliders.list()[at(pair.a)].shape, &b = colliders.list()[at(pair.b)].shape;
  return has_edges(a) && has_edges(b) &&
         extra_reach(contacts, pair) >= fast_margin * std::min(size_of(a), size_of(b));
}

// Of the contacts of a pair, the first of which is `first`; not above zero.
double least_distance(const Contacts& contacts, std::size_t first) {
  const ColliderPair& pair = contacts.list[first].pair;
  double least = 0.0;
  for (std::size_t i = first; i < contacts.list.size(); ++i) {
    const Contact& c = contacts.list[i];
    if (c.pair.a != pair.a || c.pair.b != pair.b) break;
    least = std::min(least, c.point.distance);
  }
  return least;
}

// The contact of two features at the start of a step; false if they have none, or overlap already.
bool contact_at_start(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                      const PassingFeatures& features, double reach, ContactPoint& out) {
  const FrameOfA frame(at_a, at_b);
  const Placement here{};
  const PairArguments pair{a, here, b, frame.b, reach};
  Distance d;
  d.feature_a = features.feature_a;
  d.feature_b = features.feature_b;
  d.normal = transpose_times(at_a.R, features.normal);
  if (d.feature_a.kind == FeatureKind::line && d.feature_b.kind == FeatureKind::line) {
    const Vec3 ea = unit(line_of(a, d.feature_a.index).along),
               eb = frame.b.R * unit(line_of(b, d.feature_b.index).along);
    if (squared_norm(cross(ea, eb)) < parallel_angle * parallel_angle) return false;
  }
  const Match m = match_features(pair, d);
  if (!m.converged) return false;
  d.distance = m.distance;
  d.normal = m.n;
  d.point_a = m.a;
  d.point_b = m.b;
  if (!is_within(a, here, d.feature_a, m.a, reach) || !is_within(b, frame.b, d.feature_b, m.b, reach))
    return false;
  out = contact_of(d);
  take_sides(a, here, b, frame.b, &out, 1);
  frame.bring_home(out);
  return true;
}

}  // namespace

bool may_pass(const Colliders& colliders, const Contacts& contacts) {
  for (std::size_t i = 0; i < contacts.list.size(); ++i)
    if (is_fast_pair(colliders, contacts, i)) return true;
  return false;
}

bool find_passing(const Colliders& colliders, const Data& data, Contacts& contacts, double dt,
                  double recovery_speed) {
  bool any = false;
  for (std::size_t i = 0; i < contacts.list.size(); ++i) {
    if (!is_fast_pair(colliders, contacts, i)) continue;
    const ColliderPair pair = contacts.list[i].pair;
    const Shape &a = colliders.list()[at(pair.a)].shape, &b = colliders.list()[at(pair.b)].shape;
    const double reach = extra_reach(contacts, pair), size = std::min(size_of(a), size_of(b));
    const double least = is_capsule(a) || is_capsule(b) ? least_distance(contacts, i) : 0.0;
    const double allowed = std::min(0.0, least + dt * recovery_speed) - noticed * size;
    const Placement end_a = moved(colliders, data, pair.a, dt), end_b = moved(colliders, data, pair.b, dt);
    // Most that do not overlap there are seen to along the normal that they have now.
    GapGuess gap{.axis = transpose_times(collider_placement(colliders, data, pair.a).R,
                                         contacts.list[i].point.normal)};
    if (are_apart_along(a, end_a, b, end_b, allowed, gap)) continue;
    ContactPoint points[max_contact_points], now;
    const int count = collide_unchecked(a, end_a, b, end_b, 0.0, points);
    for (int k = 0; k < count; ++k) {
      take_point_of_axis(a, end_a, b, end_b, points[k]);
      const PassingFeatures features{pair, points[k].feature_a, points[k].feature_b, points[k].normal};
      if (points[k].distance > allowed || !can_pass(a, b, features.feature_a, features.feature_b)) continue;
      if (is_listed(contacts, pair, points[k]) || contacts.passing.size() == contacts.passing.capacity())
        continue;
      if (!contact_at_start(a, collider_placement(colliders, data, pair.a), b,
                            collider_placement(colliders, data, pair.b), features, reach, now))
        continue;
      // What is inside already came in another way; what is farther than anything moves does not touch.
      if (now.distance < least - noticed * size || now.distance > reach) continue;
      contacts.passing.push_back(features);
      any = true;
    }
  }
  return any;
}

void add_passing(const Colliders& colliders, const Data& data, Contacts& contacts) {
  for (const PassingFeatures& features : contacts.passing) {
    const Collider &a = colliders.list()[static_cast<std::size_t>(features.pair.a)],
                   &b = colliders.list()[static_cast<std::size_t>(features.pair.b)];
    ContactPoint point;
    constexpr double anywhere = 1e300;
    if (!contact_at_start(a.shape, collider_placement(colliders, data, features.pair.a), b.shape,
                          collider_placement(colliders, data, features.pair.b), features, anywhere, point) ||
        is_listed(contacts, features.pair, point))
      continue;
    if (static_cast<int>(contacts.list.size()) == contacts.capacity) {
      contacts.status = DetectStatus::overflow;
      return;
    }
    contacts.list.push_back({point, features.pair});
  }
}

}  // namespace articula::collision
