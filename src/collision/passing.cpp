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

bool is_polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }

// Lines that cross, a corner and a face: what has a distance wherever it is.
bool can_pass(Feature a, Feature b) {
  if (a.kind == FeatureKind::line && b.kind == FeatureKind::line) return true;
  return (a.kind == FeatureKind::point && b.kind == FeatureKind::face) ||
         (a.kind == FeatureKind::face && b.kind == FeatureKind::point);
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
  frame.bring_home(out);
  return true;
}

}  // namespace

bool find_passing(const Colliders& colliders, const Data& data, Contacts& contacts, double dt) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  bool any = false;
  for (std::size_t i = 0; i < contacts.list.size(); ++i) {
    const ColliderPair pair = contacts.list[i].pair;
    const bool seen = i > 0 && contacts.list[i - 1].pair.a == pair.a && contacts.list[i - 1].pair.b == pair.b;
    const Shape &a = colliders.list()[at(pair.a)].shape, &b = colliders.list()[at(pair.b)].shape;
    if (seen || !is_polyhedral(a) || !is_polyhedral(b)) continue;
    const double reach = contacts.reach[at(pair.a)] + contacts.reach[at(pair.b)];
    const double size = std::min(size_of(a), size_of(b));
    if (reach < fast_margin * size) continue;
    const Placement end_a = moved(colliders, data, pair.a, dt), end_b = moved(colliders, data, pair.b, dt);
    // Most that do not overlap there are seen to along the normal that they have now.
    const Vec3 axis =
        transpose_times(collider_placement(colliders, data, pair.a).R, contacts.list[i].point.normal);
    if (are_apart_along(a, end_a, b, end_b, -noticed * size, axis)) continue;
    ContactPoint points[max_contact_points], now;
    const int count = collide_unchecked(a, end_a, b, end_b, 0.0, points);
    for (int k = 0; k < count; ++k) {
      const PassingFeatures features{pair, points[k].feature_a, points[k].feature_b, points[k].normal};
      if (points[k].distance > -noticed * size || !can_pass(features.feature_a, features.feature_b)) continue;
      if (is_listed(contacts, pair, points[k]) || contacts.passing.size() == contacts.passing.capacity())
        continue;
      if (!contact_at_start(a, collider_placement(colliders, data, pair.a), b,
                            collider_placement(colliders, data, pair.b), features, reach, now))
        continue;
      // What is inside already came in another way; what is farther than anything moves does not touch.
      if (now.distance < -noticed * size || now.distance > reach) continue;
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
