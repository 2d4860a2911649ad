// A capsule beside a box: the point of its axis nearest to the box.
//
// In the box's frame the axis is x(t) = c + e t, |t| <= h. Its squared distance to the box is convex, and
// half its slope
//   g(t) = sum_i e_i (x_i - clamp(x_i, -s_i, s_i))
// is linear between the eight places where the axis ends or crosses a plane of a face: the two of them
// between which g changes sign hold the solution, sum over the axes beyond the box of e_i (c_i + e_i t -+
// s_i) = 0.

#include <algorithm>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"
#include "tiny_pairs.hpp"

namespace articula::collision {
namespace {

Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
double least(Lanes v) { return std::min(std::min(v[0], v[1]), std::min(v[2], v[3])); }
double most(Lanes v) { return std::max(std::max(v[0], v[1]), std::max(v[2], v[3])); }

struct Axis {
  Vec3 c, e, s;  // the box's frame and half sizes
  double h;

  // g at four places.
  Lanes slope(Lanes t) const {
    Lanes g{};
    for (int i = 0; i < 3; ++i) {
      const Lanes x = broadcast(c[i]) + broadcast(e[i]) * t, half = broadcast(s[i]);
      g += broadcast(e[i]) * (x - larger(smaller(x, half), -half));
    }
    return g;
  }
};

struct Nearest {
  double t;
  bool at_end, clear;  // clear: neither near a change of features nor undetermined
};

Nearest nearest_on_axis(const Axis& axis, double noise) {
  const Lanes h = broadcast(axis.h), inverse = Vec3(1, 1, 1).lanes / axis.e.lanes;
  Lanes upper = (axis.s.lanes - axis.c.lanes) * inverse, lower = (-axis.s.lanes - axis.c.lanes) * inverse;
  upper[3] = -axis.h;
  lower[3] = axis.h;
  upper = larger(smaller(upper, h), -h);  // not numbers, of axes along a face, become an end
  lower = larger(smaller(lower, h), -h);
  const Lanes at_upper = axis.slope(upper), at_lower = axis.slope(lower);
  const double first = at_upper[3], last = at_lower[3];
  if (first >= 0) return {-axis.h, true, first > noise};
  if (last <= 0) return {axis.h, true, last < -noise};
  const Lanes zero{};
  const double low = most(larger(at_upper <= zero ? upper : -h, at_lower <= zero ? lower : -h));
  const double high = least(smaller(at_upper > zero ? upper : h, at_lower > zero ? lower : h));
  const Vec3 middle = axis.c + axis.e * (0.5 * (low + high));
  const Vec3 side(larger(smaller(middle.lanes, axis.s.lanes), -axis.s.lanes));
  const Vec3 e(middle.lanes != side.lanes ? axis.e.lanes : zero);
  const double curvature = squared_norm(e), t = dot(e, side - axis.c) / curvature;
  return {t, false, curvature > 1e-5 && std::abs(t) < axis.h - noise};
}

}  // namespace

int capsule_box_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 e = transpose_times(pair.at_b.R, pair.at_a.R.z), s = pair.b.size;
  const Axis axis{transpose_times(pair.at_b.R, pair.at_a.p - pair.at_b.p), e, s, pair.a.size[1]};
  const double radius = pair.a.size[0], reach = radius + pair.margin;
  const Lanes beside = absolute(axis.c).lanes - absolute(e).lanes * broadcast(axis.h) - s.lanes;
  if ((lane_bits(beside > broadcast(reach)) & 7) != 0) return 0;
  // Lines that are parallel to an edge have two contacts, if any.
  constexpr double parallel = 4 * parallel_angle * parallel_angle;
  if ((lane_bits(elementwise(e, e).lanes > broadcast(1 - parallel)) & 7) != 0) return not_clear;
  const double noise = 1e-7 * std::max({s[0], s[1], s[2], axis.h});
  const Nearest nearest = nearest_on_axis(axis, noise);
  if (!nearest.clear) return not_clear;
  const Vec3 x = axis.c + e * nearest.t, q(larger(smaller(x.lanes, s.lanes), -s.lanes)), apart = q - x;
  const Lanes over = absolute(x).lanes - s.lanes;
  if ((lane_bits(absolute(Vec3(over)).lanes < broadcast(noise)) & 7) != 0) return not_clear;
  const int beyond = lane_bits(over > broadcast(0.0)) & 7;
  const double squared = squared_norm(apart);
  if (beyond == 0) return not_clear;  // the axis passes through the box
  if (reach < 0 || squared > reach * reach) return 0;
  const double length = std::sqrt(squared);
  const Vec3 n = apart * (1.0 / length);
  // Lying on a face: a manifold.
  const bool flat = (lane_bits(absolute(n).lanes >= broadcast(flat_cosine)) & 7) != 0;
  if (flat && std::abs(dot(n, e)) <= flat_angle) return not_clear;
  const Feature of_a =
      nearest.at_end ? Feature{FeatureKind::point, nearest.t > 0 ? 1 : 0} : Feature{FeatureKind::line, 0};
  const Vec3 normal = pair.at_b.R * n;
  write_contact(pair.at_a.p + pair.at_a.R.z * nearest.t + normal * (0.5 * (length + radius)), normal,
                length - radius, of_a, box_feature_at(beyond, lane_bits(x.lanes > broadcast(0.0)) & 7), out);
  return add_capsule_ends(pair, out, 1);
}

}  // namespace articula::collision
