// Ends of capsules and corners of boxes beside the nearest points. What swings comes down within the step
// with another point than the one that is nearest now. Only points within the margin's reach are added: at
// rest there are none.

#include <algorithm>

#include "pairs.hpp"
#include "support.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// Contacts of a shape with balls that belong to another, added where none is near.
struct Collector {
  const PairArguments& pair;
  ContactPoint* out;
  int count;
  const int known = count;

  bool full() const { return count == max_contact_points; }

  bool near(Vec3 x, double within) const {
    for (int i = 0; i < known; ++i)
      if (squared_norm(out[i].position - x) < within * within) return true;
    return false;
  }

  // A ball of A, the point `feature` of it.
  void add_of_a(Vec3 centre, double radius, Feature feature) {
    const Distance d = distance(Shape::sphere(radius), {pair.at_a.R, centre}, pair.b, pair.at_b, pair.margin);
    if (d.beyond || d.degenerate) return;
    out[count] = contact_of(d);
    out[count++].feature_a = feature;
  }

  void add_of_b(Vec3 centre, double radius, Feature feature) {
    const Distance d = distance(pair.a, pair.at_a, Shape::sphere(radius), {pair.at_b.R, centre}, pair.margin);
    if (d.beyond || d.degenerate) return;
    out[count] = contact_of(d);
    out[count++].feature_b = feature;
  }
};

}  // namespace

int add_capsule_ends(const PairArguments& pair, ContactPoint* out, int count) {
  const double radius = pair.a.size[0], half = pair.a.size[1];
  if (count == 0 || pair.margin < fast_margin * half) return count;
  Collector collector{pair, out, count};
  // All of B is beyond the plane through its nearest point.
  const Vec3 n = out[0].normal;
  const double plane = dot(n, out[0].position - pair.at_a.p) + 0.5 * out[0].distance;
  const double slope = dot(n, pair.at_a.R.z);
  for (const bool upper : {false, true}) {
    const double t = upper ? half : -half;
    if (collector.full() || plane - t * slope - radius > pair.margin) continue;
    const Vec3 end = pair.at_a.p + pair.at_a.R.z * t;
    if (collector.near(end, radius + 0.1 * half)) continue;
    collector.add_of_a(end, radius, {FeatureKind::point, upper ? 1 : 0});
  }
  return collector.count;
}

int add_box_corners(const PairArguments& pair, ContactPoint* out, int count) {
  const double size_a = size_of(pair.a), size_b = size_of(pair.b), size = std::min(size_a, size_b);
  if (count == 0 || pair.margin < fast_margin * size) return count;
  Collector collector{pair, out, count};
  const Vec3 n = out[0].normal, x = out[0].position;
  const double half_gap = 0.5 * out[0].distance;
  for (int corner = 0; corner < 8 && !collector.full(); ++corner) {
    const Vec3 a = pair.at_a * with_signs(pair.a.size, corner);
    if (dot(n, x - a) + half_gap <= pair.margin && !collector.near(a, 0.1 * size))
      collector.add_of_a(a, 0.0, {FeatureKind::point, corner});
    if (collector.full()) break;
    const Vec3 b = pair.at_b * with_signs(pair.b.size, corner);
    if (dot(n, b - x) + half_gap <= pair.margin && !collector.near(b, 0.1 * size))
      collector.add_of_b(b, 0.0, {FeatureKind::point, corner});
  }
  return collector.count;
}

}  // namespace articula::collision
