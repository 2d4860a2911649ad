// Closed forms of spheres and capsules: nearest points of points, segments, boxes and cylinders, with the
// radii taken off afterwards.

#include <algorithm>

#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

// The rest of a distance between cores: cores apart by `apart` (from A to B, at the nearest points), radii.
// Where the cores touch, `fallback` is the direction.
Distance between_cores(Vec3 core_a, Vec3 apart, double radius_a, double radius_b, Vec3 fallback,
                       double size) {
  Distance d;
  const double squared = squared_norm(apart);
  d.degenerate = !(squared > 1e-28 * size * size);
  const double length = d.degenerate ? 0.0 : std::sqrt(squared);
  d.normal = d.degenerate ? fallback : apart * (1.0 / length);
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

// Feature of a capsule at parameter t of its axis, t in [-half, half].
Feature capsule_feature(double t, double half) {
  return t >= half    ? Feature{FeatureKind::point, 1}
         : t <= -half ? Feature{FeatureKind::point, 0}
                      : Feature{FeatureKind::line, 0};
}

}  // namespace

Distance sphere_sphere(const PairArguments& pair) {
  const double ra = pair.a.size[0], rb = pair.b.size[0];
  Distance d = between_cores(pair.at_a.p, pair.at_b.p - pair.at_a.p, ra, rb, pair.at_a.R.z, std::max(ra, rb));
  beyond(d, pair.margin);
  return d;
}

Distance sphere_capsule(const PairArguments& pair) {
  const double ra = pair.a.size[0], rb = pair.b.size[0], half = pair.b.size[1];
  const Vec3 axis = pair.at_b.R.z, r = pair.at_a.p - pair.at_b.p;
  const double t = clamp(dot(axis, r), -half, half);
  Distance d = between_cores(pair.at_a.p, axis * t - r, ra, rb, pair.at_b.R.x, std::max(ra, half + rb));
  d.feature_b = capsule_feature(t, half);
  beyond(d, pair.margin);
  return d;
}

namespace {

// Centre inside the box: out through the nearest face. The first of equally near faces is taken.
Distance sphere_in_box(const PairArguments& pair, Vec3 c) {
  const Vec3 half = pair.b.size;
  int axis = 0;
  double least = INFINITY;
  bool tie = false;
  for (int i = 0; i < 3; ++i) {
    const double depth = half[i] - std::abs(c[i]);
    tie = depth < least ? depth > least * (1 - 1e-12) : tie || depth < least * (1 + 1e-12);
    if (depth < least) {
      least = depth;
      axis = i;
    }
  }
  const bool positive = c[axis] >= 0;
  const Vec3 outward = pair.at_b.R.column(axis) * (positive ? 1.0 : -1.0);
  Distance d;
  d.normal = -outward;
  d.distance = -least - pair.a.size[0];
  d.point_a = pair.at_a.p + d.normal * pair.a.size[0];
  d.point_b = d.point_a + d.normal * d.distance;
  d.feature_b = {FeatureKind::face, 2 * axis + (positive ? 1 : 0)};
  d.degenerate = tie || c[axis] == 0;
  return d;
}

}  // namespace

Distance sphere_box(const PairArguments& pair) {
  const Vec3 half = pair.b.size;
  const Vec3 c = transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p);
  Vec3 q;
  int clamped = 0, corner = 0;
  for (int i = 0; i < 3; ++i) {
    q.lanes[i] = clamp(c[i], -half[i], half[i]);
    clamped |= (q[i] != c[i]) << i;
    corner |= (c[i] > 0) << i;
  }
  const double size = std::max({half[0], half[1], half[2], pair.a.size[0]});
  if (clamped == 0 || !(squared_norm(q - c) > 1e-30 * size * size)) return sphere_in_box(pair, q);
  Distance d = between_cores(pair.at_a.p, pair.at_b.R * (q - c), pair.a.size[0], 0.0, Vec3(), size);
  const int free = 7 ^ clamped;
  if (free == 0)
    d.feature_b = {FeatureKind::point, corner};
  else if ((free & (free - 1)) == 0) {
    const int axis = free == 1 ? 0 : free == 2 ? 1 : 2;
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    d.feature_b = {FeatureKind::line, 4 * axis + ((corner >> j) & 1) + 2 * ((corner >> k) & 1)};
  } else {
    const int axis = clamped == 1 ? 0 : clamped == 2 ? 1 : 2;
    d.feature_b = {FeatureKind::face, 2 * axis + ((corner >> axis) & 1)};
  }
  beyond(d, pair.margin);
  return d;
}

Distance sphere_cylinder(const PairArguments& pair) {
  const double radius = pair.b.size[0], half = pair.b.size[1];
  const Vec3 c = transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p);
  const double across = std::sqrt(c[0] * c[0] + c[1] * c[1]);
  const Vec3 radial = across > 0 ? Vec3(c[0] / across, c[1] / across, 0) : Vec3(1, 0, 0);
  const double size = std::max({radius, half, pair.a.size[0]}), tiny = 1e-15 * size;
  const int cap = c[2] > 0 ? 1 : 0;
  const double side = across - radius, end = std::abs(c[2]) - half;
  const Vec3 axial(0, 0, cap ? 1.0 : -1.0);
  Distance d;
  if (side > tiny && end > tiny) {
    d = between_cores(pair.at_a.p, pair.at_b.R * -(radial * side + axial * end), pair.a.size[0], 0.0, Vec3(),
                      size);
    d.feature_b = {FeatureKind::circle, cap};
  } else {
    const bool by_side = end <= side;
    d.normal = -(pair.at_b.R * (by_side ? radial : axial));
    d.distance = std::max(side, end) - pair.a.size[0];
    d.point_a = pair.at_a.p + d.normal * pair.a.size[0];
    d.point_b = d.point_a + d.normal * d.distance;
    d.feature_b = by_side ? Feature{FeatureKind::line, 0} : Feature{FeatureKind::face, cap};
    d.degenerate = (by_side && across <= tiny) || (!by_side && c[2] == 0) || std::abs(side - end) <= tiny;
  }
  beyond(d, pair.margin);
  return d;
}

int sphere_sphere_contacts(const PairArguments& pair, ContactPoint* out) {
  const double reach = pair.a.size[0] + pair.b.size[0] + pair.margin;
  if (reach < 0 || squared_norm(pair.at_b.p - pair.at_a.p) > reach * reach) return 0;
  return write(sphere_sphere(pair), out);
}
int sphere_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  return write(sphere_capsule(pair), out);
}
int sphere_box_contacts(const PairArguments& pair, ContactPoint* out) { return write(sphere_box(pair), out); }
int sphere_cylinder_contacts(const PairArguments& pair, ContactPoint* out) {
  return write(sphere_cylinder(pair), out);
}

namespace {

// Nearest points of two centred segments, by parameters along their unit axes.
struct SegmentPair {
  double s, t;
};

SegmentPair nearest_segments(Vec3 ea, double ha, Vec3 eb, double hb, Vec3 r) {
  // |r + t eb - s ea|^2 over the box of s, t; r = p_b - p_a
  const double c = dot(ea, eb), ra = dot(ea, r), rb = dot(eb, r);
  const double sine = squared_norm(cross(ea, eb));
  double s = sine > 1e-18 ? clamp((ra - c * rb) / sine, -ha, ha) : 0.0;
  if (!(sine > 1e-18)) {
    // Parallel: the middle of the overlap.
    const double low = std::max(-ha, ra - hb), high = std::min(ha, ra + hb);
    s = clamp(0.5 * (low + high), -ha, ha);
  }
  const double t = clamp(c * s - rb, -hb, hb);
  s = clamp(c * t + ra, -ha, ha);
  return {s, t};
}

// Where the axes cross, the shortest way apart is along their common perpendicular.
Vec3 across_both(const PairArguments& pair) {
  const Vec3 perpendicular = cross(pair.at_a.R.z, pair.at_b.R.z);
  return squared_norm(perpendicular) > 1e-18 ? unit(perpendicular) : pair.at_a.R.x;
}

}  // namespace

Distance capsule_capsule(const PairArguments& pair) {
  const double ra = pair.a.size[0], ha = pair.a.size[1], rb = pair.b.size[0], hb = pair.b.size[1];
  const Vec3 ea = pair.at_a.R.z, eb = pair.at_b.R.z, r = pair.at_b.p - pair.at_a.p;
  const SegmentPair m = nearest_segments(ea, ha, eb, hb, r);
  const double size = std::max(ra + ha, rb + hb);
  const Vec3 apart = r + eb * m.t - ea * m.s;
  Distance d = between_cores(pair.at_a.p + ea * m.s, apart, ra, rb, across_both(pair), size);
  d.feature_a = capsule_feature(m.s, ha);
  d.feature_b = capsule_feature(m.t, hb);
  beyond(d, pair.margin);
  return d;
}

// Nearly parallel capsules touch along their overlap: its two ends, each an end of one capsule against the
// other's axis.
int capsule_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  const double ha = pair.a.size[1], hb = pair.b.size[1], ra = pair.a.size[0], rb = pair.b.size[0];
  const Vec3 ea = pair.at_a.R.z, eb = pair.at_b.R.z, r = pair.at_b.p - pair.at_a.p;
  const double reach = ha + hb + ra + rb + pair.margin;
  if (squared_norm(r) > reach * reach) return 0;
  const double c = dot(ea, eb), middle = dot(ea, r);
  const double low = std::max(-ha, middle - hb * std::abs(c)), high = std::min(ha, middle + hb * std::abs(c));
  const bool parallel = squared_norm(cross(ea, eb)) < parallel_angle * parallel_angle && high > low;
  if (!parallel) {
    const Distance d = capsule_capsule(pair);
    if (d.beyond) return 0;
    *out = contact_of(d);
    return 1;
  }
  int count = 0;
  for (const bool upper : {false, true}) {
    // The end belongs to A, or to B: then its parameter along B is its own end.
    const bool of_a = upper ? ha <= middle + hb * std::abs(c) : -ha >= middle - hb * std::abs(c);
    const bool b_up = (c > 0) == upper;
    const double s_end = upper ? ha : -ha, t_end = b_up ? hb : -hb;
    const double s = of_a ? s_end : clamp(dot(ea, r + eb * t_end), -ha, ha);
    const double t = of_a ? clamp(dot(eb, ea * s_end - r), -hb, hb) : t_end;
    const Vec3 apart = r + eb * t - ea * s;
    Distance d = between_cores(pair.at_a.p + ea * s, apart, ra, rb, any_across(ea), ha + hb);
    if (d.distance > pair.margin) continue;
    d.feature_a = of_a ? Feature{FeatureKind::point, upper ? 1 : 0} : Feature{FeatureKind::line, 0};
    d.feature_b = of_a ? Feature{FeatureKind::line, 0} : Feature{FeatureKind::point, b_up ? 1 : 0};
    out[count++] = contact_of(d);
  }
  return count;
}

}  // namespace articula::collision
