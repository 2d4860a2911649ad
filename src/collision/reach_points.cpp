// Ends of capsules and corners of boxes beside the nearest points. What swings comes down within the step
// with another point than the one that is nearest now. Only points within the margin's reach are added: at
// rest there are none.

#include <algorithm>

#include "frame_of_a.hpp"
#include "off_grid.hpp"
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

  bool full() const { return count >= usual_contact_points; }

  bool near(Vec3 x, double within) const {
    for (int i = 0; i < known; ++i)
      if (squared_norm(out[i].position - x) < within * within) return true;
    return false;
  }

  // Keeps what was written behind the last contact, unless its features touch already.
  void keep() {
    for (int i = 0; i < count; ++i)
      if (out[i].feature_a == out[count].feature_a && out[i].feature_b == out[count].feature_b) return;
    ++count;
  }

  // A ball of A, the point `feature` of it.
  void add_of_a(Vec3 centre, double radius, Feature feature) {
    const Distance d =
        distance_unchecked(Shape::sphere(radius), {pair.at_a.R, centre}, pair.b, pair.at_b, pair.margin);
    if (d.beyond || d.degenerate) return;
    out[count] = contact_of(d);
    out[count].feature_a = feature;
    keep();
  }

  void add_of_b(Vec3 centre, double radius, Feature feature) {
    const Distance d =
        distance_unchecked(pair.a, pair.at_a, Shape::sphere(radius), {pair.at_b.R, centre}, pair.margin);
    if (d.beyond || d.degenerate) return;
    out[count] = contact_of(d);
    out[count].feature_b = feature;
    keep();
  }
};

}  // namespace

namespace {

bool is_fast_capsule(const Shape& shape, double margin) {
  return shape.type == ShapeType::capsule && margin >= fast_margin * shape.size[1];
}

}  // namespace

int add_capsule_ends(const PairArguments& pair, ContactPoint* out, int count) {
  const bool fast_a = is_fast_capsule(pair.a, pair.margin), fast_b = is_fast_capsule(pair.b, pair.margin);
  if (count == 0 || !(fast_a || fast_b)) return count;
  Collector collector{pair, out, count};
  const Vec3 n = out[0].normal, x = out[0].position;
  const double half_gap = 0.5 * out[0].distance;
  const auto add_ends = [&](const Shape& capsule, const Placement& at, bool of_a) {
    const double radius = capsule.size[0], half = capsule.size[1];
    for (const bool upper : {false, true}) {
      const Vec3 end = at.p + at.R.z * (upper ? half : -half);
      // All of the other shape is beyond the plane through its nearest point.
      const double height = dot(n, of_a ? x - end : end - x) + half_gap - radius;
      if (collector.full() || height > pair.margin || collector.near(end, radius + 0.1 * half)) continue;
      const Feature feature{FeatureKind::point, upper ? 1 : 0};
      of_a ? collector.add_of_a(end, radius, feature) : collector.add_of_b(end, radius, feature);
    }
  };
  if (fast_a) add_ends(pair.a, pair.at_a, true);
  if (fast_b) add_ends(pair.b, pair.at_b, false);
  return collector.count;
}

// In A's frame. Which feature a corner is nearest to, and whether it counts, is decided on the grid, as for
// any other pair; then come the numbers at the exact placement.
int add_box_corners(const PairArguments& pair, ContactPoint* out, int count) {
  const double size_a = size_of(pair.a), size_b = size_of(pair.b), size = std::min(size_a, size_b);
  if (count == 0 || pair.margin < fast_margin * size) return count;
  const Placement at_b = on_grid(pair.at_b, std::max(size_a, size_b));
  const PairArguments rounded{pair.a, pair.at_a, pair.b, at_b, pair.margin};
  Collector collector{rounded, out, count};
  const Vec3 n = out[0].normal, x = out[0].position;
  // Heights and places that tie are left to the order of the corners.
  const double half_gap = 0.5 * out[0].distance, level = pair.margin + 1e-10 * size,
               apart = 0.1 * size * (1 + 1e-9);
  for (int corner = 0; corner < 8 && !collector.full(); ++corner) {
    const Vec3 a = pair.at_a * with_signs(pair.a.size, corner);
    if (dot(n, x - a) + half_gap <= level && !collector.near(a, apart))
      collector.add_of_a(a, 0.0, {FeatureKind::point, corner});
    if (collector.full()) break;
    const Vec3 b = at_b * with_signs(pair.b.size, corner);
    if (dot(n, b - x) + half_gap <= level && !collector.near(b, apart))
      collector.add_of_b(b, 0.0, {FeatureKind::point, corner});
  }
  for (int i = count; i < collector.count; ++i) {
    Distance found;
    found.normal = out[i].normal;
    found.distance = out[i].distance;
    found.point_a = out[i].position - out[i].normal * (0.5 * out[i].distance);
    found.point_b = out[i].position + out[i].normal * (0.5 * out[i].distance);
    found.feature_a = out[i].feature_a;
    found.feature_b = out[i].feature_b;
    const Distance exact = off_grid(pair, found);
    if (exact.feature_a == found.feature_a && exact.feature_b == found.feature_b) out[i] = contact_of(exact);
  }
  return collector.count;
}

}  // namespace articula::collision
