// Closed forms of spheres and capsules: nearest points of points, segments, boxes and cylinders, with the
// radii taken off afterwards.

#include <algorithm>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"
#include "tiny_pairs.hpp"

namespace articula::collision {
namespace {

// The rest of a distance between cores: cores apart by `apart` (from A to B, at the nearest points), radii.
// Where the cores touch, `fallback()` is the direction.
template <class Fallback>
Distance between_cores(Vec3 core_a, Vec3 apart, double radius_a, double radius_b, double size,
                       Fallback&& fallback) {
  Distance d;
  const double squared = squared_norm(apart);
  d.degenerate = !(squared > 1e-12 * size * size) && !(squared > least_apart(core_a, size));
  const double length = d.degenerate ? 0.0 : std::sqrt(squared);
  d.normal = d.degenerate ? fallback() : apart * (1.0 / length);
  d.distance = length - radius_a - radius_b;
  d.point_a = core_a + d.normal * radius_a;
  d.point_b = d.point_a + d.normal * d.distance;
  return d;
}

int write(const Distance& d, ContactPoint* out) {
  if (d.beyond) return 0;
  *out = contact_of(d);
  return 1;
}

bool beyond(Distance& d, double margin) { return d.beyond = d.distance > margin; }

// Cores farther apart than radii and margin: no contact, and no need of a normal.
bool out_of_reach(Vec3 apart, double reach) { return reach < 0 || squared_norm(apart) > reach * reach; }

// Feature of a capsule at parameter t of its axis, t in [-half, half].
Feature capsule_feature(double t, double half) {
  return t >= half    ? Feature{FeatureKind::point, 1}
         : t <= -half ? Feature{FeatureKind::point, 0}
                      : Feature{FeatureKind::line, 0};
}

}  // namespace

namespace {

// The z axis of the smaller sphere; of equal ones, of that which comes first in an order of their own.
[[gnu::noinline]] Vec3 sphere_fallback(const PairArguments& pair) {
  return twins_in_order(pair.a, pair.at_a, pair.b, pair.at_b) ? pair.at_a.R.z : -pair.at_b.R.z;
}

}  // namespace

Distance sphere_sphere(const PairArguments& pair) {
  const double ra = pair.a.size[0], rb = pair.b.size[0];
  Distance d = between_cores(pair.at_a.p, pair.at_b.p - pair.at_a.p, ra, rb, std::max(ra, rb),
                             [&] { return sphere_fallback(pair); });
  beyond(d, pair.margin);
  return d;
}

Distance sphere_capsule(const PairArguments& pair) {
  const double ra = pair.a.size[0], rb = pair.b.size[0], half = pair.b.size[1];
  const Vec3 axis = pair.at_b.R.z, r = pair.at_a.p - pair.at_b.p;
  const double t = clamp(dot(axis, r), -half, half);
  Distance d = between_cores(pair.at_a.p, axis * t - r, ra, rb, std::max(ra, half + rb),
                             [&] { return pair.at_b.R.x; });
  d.feature_b = capsule_feature(t, half);
  beyond(d, pair.margin);
  return d;
}

namespace {

// Ties within what rounding of the sizes and of the place in the world can do are decided by the order of the
// features instead.
double tie_noise(const PairArguments& pair, double size) {
  return 1e-13 * size +
         1e-15 * (std::abs(pair.at_a.p[0]) + std::abs(pair.at_a.p[1]) + std::abs(pair.at_a.p[2]));
}

// Centre inside the box: out through the nearest face. The first of equally near faces is taken.
Distance sphere_in_box(const PairArguments& pair, Vec3 c) {
  const Vec3 half = pair.b.size;
  const double noise = tie_noise(pair, std::max({half[0], half[1], half[2]}));
  int axis = 0;
  double least = half[0] - std::abs(c[0]);
  bool tie = false;
  for (int i = 1; i < 3; ++i) {
    const double depth = half[i] - std::abs(c[i]);
    tie = std::abs(depth - least) <= noise || (tie && depth > least);
    if (depth < least - noise) {
      least = depth;
      axis = i;
    }
  }
  const bool positive = c[axis] >= -noise;
  const Vec3 outward = pair.at_b.R.column(axis) * (positive ? 1.0 : -1.0);
  Distance d;
  d.normal = -outward;
  d.distance = -least - pair.a.size[0];
  d.point_a = pair.at_a.p + d.normal * pair.a.size[0];
  d.point_b = d.point_a + d.normal * d.distance;
  d.feature_b = {FeatureKind::face, 2 * axis + (positive ? 1 : 0)};
  d.degenerate = tie || std::abs(c[axis]) <= noise;
  return d;
}

}  // namespace

namespace {

// The box's point nearest to c, in the box's frame.
Vec3 nearest_in_box(Vec3 half, Vec3 c) {
  const Lanes below = c.lanes < half.lanes ? c.lanes : half.lanes;
  return Vec3(below > -half.lanes ? below : -half.lanes);
}

int signs(Vec3 v) { return lane_bits(v.lanes > broadcast(0.0)) & 7; }

// Beyond the box along an axis by no more than rounding is not beyond it.
Feature box_feature(Vec3 apart, Vec3 c) {
  const Vec3 away = absolute(apart), place = absolute(c);
  const double noise =
      1e-9 * std::max({away[0], away[1], away[2]}) + 1e-15 * std::max({place[0], place[1], place[2]});
  return box_feature_at(lane_bits(away.lanes > broadcast(noise)) & 7, signs(c));
}

Distance sphere_box_from(const PairArguments& pair, Vec3 c, Vec3 q) {
  const Vec3 half = pair.b.size, apart = q - c;
  const double size = std::max({half[0], half[1], half[2], pair.a.size[0]});
  if (!(squared_norm(apart) > 1e-30 * size * size)) return sphere_in_box(pair, q);
  Distance d = between_cores(pair.at_a.p, pair.at_b.R * apart, pair.a.size[0], 0.0, size,
                             [&] { return pair.at_b.R * unit(apart); });
  d.feature_b = box_feature(apart, c);
  beyond(d, pair.margin);
  return d;
}

}  // namespace

Distance sphere_box(const PairArguments& pair) {
  const Vec3 c = transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p);
  return sphere_box_from(pair, c, nearest_in_box(pair.b.size, c));
}

namespace {

// The sphere's centre as the cylinder sees it: heights over its side and over the nearer end.
struct OverCylinder {
  Vec3 radial;  // from the axis to the centre
  double along, across, side, end;

  OverCylinder(const Placement& at, Vec3 size, Vec3 centre) {
    const Vec3 r = centre - at.p;
    along = dot(at.R.z, r);
    radial = r - at.R.z * along;
    across = norm(radial);
    side = across - size[0];
    end = std::abs(along) - size[1];
  }
};

Distance sphere_cylinder_from(const PairArguments& pair, const OverCylinder& o) {
  const double ra = pair.a.size[0];
  const double size = std::max({pair.b.size[0], pair.b.size[1], ra}), tiny = 1e-15 * size;
  const int cap = o.along > 0 ? 1 : 0;
  const Vec3 down = cap ? -pair.at_b.R.z : pair.at_b.R.z;
  if (o.side > tiny && o.end > tiny) {
    Distance d = between_cores(pair.at_a.p, down * o.end - o.radial * (o.side / o.across), ra, 0.0, size,
                               [&] { return down; });
    d.feature_b = {FeatureKind::circle, cap};
    beyond(d, pair.margin);
    return d;
  }
  // Inside, or over the side or an end: out through the nearer. Of equals the side, and the upper end.
  const double noise = tie_noise(pair, size);
  Distance d;
  const bool by_side = o.end <= o.side + noise, on_axis = o.across <= noise, upper = o.along > -noise;
  const Vec3 z = pair.at_b.R.z;
  d.normal = !by_side ? (upper ? -z : z) : on_axis ? -pair.at_b.R.x : o.radial * (-1.0 / o.across);
  d.distance = (by_side ? o.side : o.end) - ra;
  d.point_a = pair.at_a.p + d.normal * ra;
  d.point_b = d.point_a + d.normal * d.distance;
  d.feature_b = by_side ? Feature{FeatureKind::line, 0} : Feature{FeatureKind::face, upper ? 1 : 0};
  d.degenerate =
      (by_side && on_axis) || (!by_side && std::abs(o.along) <= noise) || std::abs(o.side - o.end) <= noise;
  beyond(d, pair.margin);
  return d;
}

}  // namespace

Distance sphere_cylinder(const PairArguments& pair) {
  return sphere_cylinder_from(pair, {pair.at_b, pair.b.size, pair.at_a.p});
}

int near_centres_contacts(const PairArguments& pair, ContactPoint* out) {
  return write(sphere_sphere(pair), out);
}
int sphere_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  return write(sphere_capsule(pair), out);
}
int sphere_box_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 c = transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p), q = nearest_in_box(pair.b.size, c);
  const Vec3 apart = q - c;
  const double squared = squared_norm(apart), radius = pair.a.size[0], reach = radius + pair.margin;
  if (reach < 0 || squared > reach * reach) return 0;
  const double size = std::max({pair.b.size[0], pair.b.size[1], pair.b.size[2], radius});
  if (!(squared > 1e-28 * size * size)) return write(sphere_box_from(pair, c, q), out);
  const double length = std::sqrt(squared);
  const Vec3 n = pair.at_b.R * (apart * (1.0 / length));
  write_contact(pair.at_a.p + n * (0.5 * (length + radius)), n, length - radius, {FeatureKind::point, 0},
                box_feature(apart, c), out);
  return 1;
}
namespace {

void write_sphere(const PairArguments& pair, Vec3 normal, double height, Feature feature, ContactPoint* out) {
  const double radius = pair.a.size[0];
  write_contact(pair.at_a.p + normal * (0.5 * (height + radius)), normal, height - radius,
                {FeatureKind::point, 0}, feature, out);
}

[[gnu::noinline]] int sphere_cylinder_tie(const PairArguments& pair, const OverCylinder& over,
                                          ContactPoint* out) {
  return write(sphere_cylinder_from(pair, over), out);
}

}  // namespace

int sphere_cylinder_contacts(const PairArguments& pair, ContactPoint* out) {
  const OverCylinder o(pair.at_b, pair.b.size, pair.at_a.p);
  const double reach = pair.a.size[0] + pair.margin;
  if (o.side > reach || o.end > reach) return 0;
  // Clearly over the rim, the side or an end.
  const double tie = 1e-6 * std::max(pair.b.size[0], pair.b.size[1]);
  const int cap = o.along > 0 ? 1 : 0;
  const Vec3 down = cap ? -pair.at_b.R.z : pair.at_b.R.z;
  if (o.side > tie && o.end > tie) {
    const double length = std::sqrt(o.side * o.side + o.end * o.end);
    if (length > reach) return 0;
    const Vec3 normal = (down * o.end - o.radial * (o.side / o.across)) * (1.0 / length);
    write_sphere(pair, normal, length, {FeatureKind::circle, cap}, out);
  } else if (o.end < std::min(o.side, 0.0) - tie && o.across > tie) {
    write_sphere(pair, o.radial * (-1.0 / o.across), o.side, {FeatureKind::line, 0}, out);
  } else if (o.side < std::min(o.end, 0.0) - tie && std::abs(o.along) > tie) {
    write_sphere(pair, down, o.end, {FeatureKind::face, cap}, out);
  } else {
    return sphere_cylinder_tie(pair, o, out);
  }
  return 1;
}

namespace {

// Nearest points of two centred segments, by parameters along their unit axes.
struct SegmentPair {
  double s, t;
};

// Two capsules' axes: directions, half lengths, r from A's centre to B's, and their products.
struct Axes {
  Vec3 ea, eb, r, perpendicular;
  double ha, hb, c, ra, rb, sine;  // cosine of the angle; r along either axis; squared sine

  explicit Axes(const PairArguments& pair)
      : ea(pair.at_a.R.z),
        eb(pair.at_b.R.z),
        r(pair.at_b.p - pair.at_a.p),
        perpendicular(cross(ea, eb)),
        ha(pair.a.size[1]),
        hb(pair.b.size[1]),
        c(dot(ea, eb)),
        ra(dot(ea, r)),
        rb(dot(eb, r)),
        sine(squared_norm(perpendicular)) {}
};

// The least |r + t eb - s ea|^2 over the box of s, t.
SegmentPair nearest_segments(const Axes& x) {
  double s;
  if (x.sine > 1e-18)
    s = clamp((x.ra - x.c * x.rb) / x.sine, -x.ha, x.ha);
  else  // Parallel: the middle of the overlap.
    s = clamp(0.5 * (std::max(-x.ha, x.ra - x.hb) + std::min(x.ha, x.ra + x.hb)), -x.ha, x.ha);
  const double t = clamp(x.c * s - x.rb, -x.hb, x.hb);
  s = clamp(x.c * t + x.ra, -x.ha, x.ha);
  return {s, t};
}

Distance capsule_capsule_from(const PairArguments& pair, const Axes& x, const SegmentPair& m, Vec3 apart) {
  const double ra = pair.a.size[0], rb = pair.b.size[0];
  // Where the axes cross, the shortest way apart is along their common perpendicular.
  Distance d = between_cores(pair.at_a.p + x.ea * m.s, apart, ra, rb, std::max(ra + x.ha, rb + x.hb), [&] {
    return x.sine > 1e-18 ? x.perpendicular * (1.0 / std::sqrt(x.sine)) : pair.at_a.R.x;
  });
  d.feature_a = capsule_feature(m.s, x.ha);
  d.feature_b = capsule_feature(m.t, x.hb);
  beyond(d, pair.margin);
  return d;
}

}  // namespace

Distance capsule_capsule(const PairArguments& pair) {
  const Axes x(pair);
  const SegmentPair m = nearest_segments(x);
  return capsule_capsule_from(pair, x, m, x.r + x.eb * m.t - x.ea * m.s);
}

// Neither parallel nor axis on axis, and slow: nothing is a tie, and no order of the two is needed.
int crossing_capsules_contacts(const PairArguments& pair, ContactPoint* out) {
  const Axes x(pair);
  const double ra = pair.a.size[0], rb = pair.b.size[0], reach = ra + rb + pair.margin;
  if (!(x.sine > 2 * parallel_angle * parallel_angle)) return not_clear;
  if (pair.margin >= fast_margin * std::min(x.ha, x.hb)) return not_clear;
  const SegmentPair m = nearest_segments(x);
  const Vec3 apart = x.r + x.eb * m.t - x.ea * m.s;
  const double squared = squared_norm(apart), size = std::max(ra + x.ha, rb + x.hb);
  if (reach < 0 || squared > reach * reach) return 0;
  if (!(squared > 1e-12 * size * size)) return not_clear;
  const double length = std::sqrt(squared);
  const Vec3 n = apart * (1.0 / length);
  write_contact(pair.at_a.p + x.ea * m.s + n * (0.5 * (length + ra - rb)), n, length - ra - rb,
                capsule_feature(m.s, x.ha), capsule_feature(m.t, x.hb), out);
  return 1;
}

// Nearly parallel capsules touch along their overlap: its two ends, each an end of one capsule against the
// other's axis.
int capsule_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  const Axes x(pair);
  const double ha = x.ha, hb = x.hb, c = x.c, middle = x.ra, ra = pair.a.size[0], rb = pair.b.size[0];
  const Vec3 ea = x.ea, eb = x.eb, r = x.r;
  const SegmentPair m = nearest_segments(x);
  const Vec3 nearest = r + eb * m.t - ea * m.s;
  if (out_of_reach(nearest, ra + rb + pair.margin)) return 0;
  const double low = std::max(-ha, middle - hb * std::abs(c)), high = std::min(ha, middle + hb * std::abs(c));
  const Distance single = capsule_capsule_from(pair, x, m, nearest);
  if (!(x.sine < parallel_angle * parallel_angle && high > low + 1e-9 * (ha + hb)))
    return add_capsule_ends(pair, out, write(single, out));
  const double noise = tie_noise(pair, 1e3 * (ha + hb));
  int count = 0;
  Vec3 normal_below;
  for (const bool upper : {false, true}) {
    // The end belongs to A, or to B: then its parameter along B is its own end.
    const bool of_a =
        upper ? ha <= middle + hb * std::abs(c) + noise : -ha >= middle - hb * std::abs(c) - noise;
    const bool b_up = (c > 0) == upper;
    const double s_end = upper ? ha : -ha, t_end = b_up ? hb : -hb;
    const double s = of_a ? s_end : clamp(dot(ea, r + eb * t_end), -ha, ha);
    const double t = of_a ? clamp(dot(eb, ea * s_end - r), -hb, hb) : t_end;
    const Vec3 apart = r + eb * t - ea * s;
    Distance d = between_cores(pair.at_a.p + ea * s, apart, ra, rb, ha + hb, [&] { return pair.at_a.R.x; });
    // Axes closer to each other than their ends stray apart: only the crossing has the pair's normal.
    if (upper && dot(d.normal, normal_below) < flat_cosine) return write(single, out);
    normal_below = d.normal;
    if (d.distance > pair.margin) continue;
    d.feature_a = of_a ? Feature{FeatureKind::point, upper ? 1 : 0} : Feature{FeatureKind::line, 0};
    d.feature_b = of_a ? Feature{FeatureKind::line, 0} : Feature{FeatureKind::point, b_up ? 1 : 0};
    out[count++] = contact_of(d);
  }
  return count;
}

}  // namespace articula::collision
