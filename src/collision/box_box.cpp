// Two boxes: the fifteen axes that can separate them.
//
// All in A's frame, R = B's axes, t = B's centre. Along a unit axis n the boxes overlap by
//   sum_i a_i |n_i| + sum_j b_j |n . R_j| - |n . t|
// The axis of least overlap is the normal. Axes across two edges are e_i x R_j, whose entries are entries of
// R, so that nearly parallel edges lose no precision.

#include <algorithm>
#include <bit>

#include "features.hpp"
#include "frame_of_a.hpp"
#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

struct Axis {
  double overlap = INFINITY;
  int kind = -1;       // 0-2: A's faces, 3-5: B's, 6-14: edges 6 + 3 i + j
  bool apart = false;  // some axis separates the boxes by more than the margin
  bool tie = false;    // another axis across a face, in another direction, has as little overlap
};

// Edges lose ties against faces, B's faces against A's.
constexpr double preference = 1e-11;

double largest(Vec3 v) { return std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])}); }

Vec3 rotate_twice(Vec3 a) { return rotate_lanes(rotate_lanes(a)); }

// Overlaps along A's edge i against B's three edges j, in lanes, times the axes' length:
//   n = e_i x R_j:   n_i1 = -R_j[i2], n_i2 = R_j[i1];   n . R_j1 = -R_j2[i], n . R_j2 = R_j1[i]
struct EdgeAxes {
  Vec3 gap, squared;
};
EdgeAxes edge_axes(Vec3 b, double a1, double a2, double t1, double t2, Vec3 row, Vec3 row1, Vec3 row2) {
  const Vec3 q = absolute(row);
  const Vec3 reach = absolute(row2) * a1 + absolute(row1) * a2 +
                     elementwise(rotate_lanes(b), rotate_twice(q)) +
                     elementwise(rotate_twice(b), rotate_lanes(q));
  return {reach - absolute(row1 * t2 - row2 * t1), elementwise(row1, row1) + elementwise(row2, row2)};
}

// Bits of the axes that separate by more than the margin.
int separating(Vec3 overlap, double margin) { return lane_bits(overlap.lanes < broadcast(-margin)) & 7; }

// The first of those that are lowest but for rounding.
int lowest_lane(Vec3 v, double noise) {
  const int first = v[1] < v[0] - noise ? 1 : 0;
  return v[2] < v[first] - noise ? 2 : first;
}

// Whether the lowest overlap is not that of one direction: two faces of a box tie, or one of each that do not
// lie along each other.
bool is_tie(Vec3 by_a, Vec3 by_b, double limit, const Mat3& R) {
  const unsigned of_a = static_cast<unsigned>(lane_bits(by_a.lanes <= broadcast(limit)) & 7),
                 of_b = static_cast<unsigned>(lane_bits(by_b.lanes <= broadcast(limit)) & 7);
  if (std::popcount(of_a) > 1 || std::popcount(of_b) > 1) return true;
  return of_a != 0 && of_b != 0 &&
         std::abs(R.column(std::countr_zero(of_b))[std::countr_zero(of_a)]) < flat_cosine;
}

Axis least_overlap(Vec3 a, Vec3 b, const Mat3& R, Vec3 t, double margin, double size) {
  constexpr Axis apart{0, -1, true, false};
  const Mat3 Q{absolute(R.x), absolute(R.y), absolute(R.z)};
  const Vec3 by_a = a + Q * b - absolute(t);
  if (separating(by_a, margin) != 0) return apart;
  const Mat3 rows = transpose(R);
  const Mat3 P{absolute(rows.x), absolute(rows.y), absolute(rows.z)};
  const Vec3 by_b = b + P * a - absolute(rows * t);
  if (separating(by_b, margin) != 0) return apart;
  const double noise = preference * size;
  const int i = lowest_lane(by_a, noise), j = lowest_lane(by_b, noise);
  Axis best = by_b[j] + noise < by_a[i] ? Axis{by_b[j], 3 + j} : Axis{by_a[i], i};
  // gap/|axis| below the best so far: only what is gets a square root.
  const double ceiling = std::max(best.overlap - 2 * noise, 0.0);
  alignas(32) double gap[12], squared[12];
  unsigned low = 0;
  const auto edges = [&](int k, Vec3 row, Vec3 row1, Vec3 row2, double a1, double a2, double t1, double t2) {
    const EdgeAxes e = edge_axes(b, a1, a2, t1, t2, row, row1, row2);
    const Mask below = (e.gap.lanes < broadcast(0.0)) |
                       (e.gap.lanes * e.gap.lanes < e.squared.lanes * broadcast(ceiling * ceiling));
    low |= static_cast<unsigned>(lane_bits(below & (e.squared.lanes >= broadcast(1e-24))) & 7) << (4 * k);
    __builtin_memcpy(gap + 4 * k, &e.gap.lanes, sizeof(Lanes));
    __builtin_memcpy(squared + 4 * k, &e.squared.lanes, sizeof(Lanes));
  };
  edges(0, rows.x, rows.y, rows.z, a[1], a[2], t[1], t[2]);
  edges(1, rows.y, rows.z, rows.x, a[2], a[0], t[2], t[0]);
  edges(2, rows.z, rows.x, rows.y, a[0], a[1], t[0], t[1]);
  for (; low != 0; low &= low - 1) {
    const int l = std::countr_zero(low);
    const double overlap = gap[l] / std::sqrt(squared[l]);
    if (overlap < -margin) best.apart = true;
    if (overlap + 2 * noise < best.overlap) best.overlap = overlap, best.kind = 6 + 3 * (l / 4) + l % 4;
  }
  if (best.kind < 6) best.tie = is_tie(by_a, by_b, best.overlap + noise, R);
  return best;
}

Vec3 axis_direction(const Axis& axis, const Mat3& R) {
  if (axis.kind < 3) return axis_vector(axis.kind);
  if (axis.kind < 6) return R.column(axis.kind - 3);
  return unit(cross(axis_vector((axis.kind - 6) / 3), R.column((axis.kind - 6) % 3)));
}

// The nearest points of the two edges (or corner and face) that the axis belongs to.
void witness(const Axis& axis, Vec3 n, const Shape& box_a, const Shape& box_b, const Placement& b_in_a,
             Distance& d) {
  const SupportPoint sa = support_box(box_a.size, n);
  const SupportPoint sb = support_box(box_b.size, -transpose_times(b_in_a.R, n));
  const Vec3 xa = sa.x, xb = b_in_a * sb.x;
  d.distance = dot(n, xb - xa);
  if (axis.kind < 6) {
    const bool of_a = axis.kind < 3;
    const int i = axis.kind % 3, corner = of_a ? sa.vertex : sb.vertex;
    const Feature face{FeatureKind::face, 2 * i + ((corner >> i) & 1)};
    const Feature point{FeatureKind::point, of_a ? sb.vertex : sa.vertex};
    d.feature_a = of_a ? face : point;
    d.feature_b = of_a ? point : face;
    d.point_a = of_a ? xb - n * d.distance : xa;
    d.point_b = d.point_a + n * d.distance;
    return;
  }
  const int i = (axis.kind - 6) / 3, j = (axis.kind - 6) % 3;
  d.feature_a = {FeatureKind::line, box_edge(i, sa.vertex)};
  d.feature_b = {FeatureKind::line, box_edge(j, sb.vertex)};
  // s e_i - u R_j = (xb - xa) - d n =: r,   s = (r x R_j).(e_i x R_j)/|e_i x R_j|^2
  const Vec3 ea = axis_vector(i), eb = b_in_a.R.column(j), r = xb - xa - n * d.distance,
             across = cross(ea, eb);
  const double s = dot(cross(r, eb), across) / squared_norm(across);
  // Nearly parallel edges cross at a place that is not accurate along them.
  const double half = box_a.size[i];
  d.point_a = xa + ea * clamp(s, -half - xa[i], half - xa[i]);
  d.point_b = d.point_a + n * d.distance;
}

}  // namespace

int box_box_contacts(const PairArguments& pair, ContactPoint* out) {
  const Placement& b_in_a = pair.at_b;
  const double size = std::max(largest(pair.a.size), largest(pair.b.size));
  const Placement rounded = on_grid(b_in_a, size);
  const Axis axis = least_overlap(pair.a.size, pair.b.size, rounded.R, rounded.p, pair.margin, size);
  if (axis.apart) return 0;
  // Apart within the margin: the nearest features need not belong to any of the axes.
  if (axis.overlap < 0) return convex_contacts(pair, out);
  Vec3 n = axis_direction(axis, b_in_a.R);
  Distance d;
  d.degenerate = dot(n, rounded.p) == 0 || axis.tie;
  if (dot(n, rounded.p) < 0) n = -n;
  witness(axis, n, pair.a, pair.b, b_in_a, d);
  d.normal = n;
  // A face is not flat on the other box unless that has a normal along it.
  const Vec3 n_in_b = transpose_times(b_in_a.R, n);
  const bool flat = largest(axis.kind < 3 ? n_in_b : n) >= flat_cosine;
  // Edges that are neither parallel nor in the plane of a face cross at one point.
  if (axis.kind >= 6 && largest(n) < flat_cosine && largest(n_in_b) < flat_cosine) {
    const double c = b_in_a.R.column((axis.kind - 6) % 3)[(axis.kind - 6) / 3];
    if (1 - c * c > 2 * parallel_angle * parallel_angle) {
      *out = contact_of(d);
      return add_box_corners(pair, out, 1);
    }
  }
  if (axis.kind < 6 && !flat && !d.degenerate) {
    const int count = box_face_contacts(pair, axis.kind % 3, axis.kind < 3, n, d.distance, out);
    if (count != not_clear) return add_box_corners(pair, out, count);
  }
  const int count = manifold(pair, d, out);
  for (int i = 0; i < count; ++i) out[i].degenerate |= d.degenerate;
  return add_box_corners(pair, out, count);
}

}  // namespace articula::collision
