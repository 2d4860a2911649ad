#include "off_grid.hpp"

#include <algorithm>

#include "bulge.hpp"
#include "candidates.hpp"
#include "features.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

bool is_straight(Feature f) { return f.kind == FeatureKind::point || f.kind == FeatureKind::line; }

// A point or a line: from + t along.
Segment core_of(const Shape& shape, const Placement& at, Feature f) {
  if (f.kind == FeatureKind::point) return {at * point_of(shape, f.index), Vec3()};
  const Segment s = line_of(shape, f.index);
  return {at * s.from, at.R * s.along};
}

Match match_of(Vec3 a, Vec3 b, Vec3 n, double radius_a, double radius_b) {
  return {a + n * radius_a, b - n * radius_b, n, dot(n, b - a) - radius_a - radius_b, true};
}

bool is_proven(const PairArguments& pair, Vec3 way, double length, double size) {
  if (!(length > 1e-9 * size)) return false;
  const ConvexPair convex(pair.a, pair.b, pair.at_b);
  return std::abs(difference_extent(convex, way * (1.0 / length)) + length) <= 2e-12 * size;
}

// Points and lines against each other: the nearest points of the cores, and the way between them, which two
// lines have even where they touch.
Match straight(const PairArguments& pair, const Distance& found, double size) {
  const Segment a = core_of(pair.a, pair.at_a, found.feature_a),
                b = core_of(pair.b, pair.at_b, found.feature_b);
  const double aa = squared_norm(a.along), bb = squared_norm(b.along);
  Vec3 x = a.from, y = b.from, way;
  double length = 0;
  if (aa > 0 && bb > 0) {
    way = cross(a.along, b.along);
    const double squared = squared_norm(way);
    if (!(squared > 1e-16 * aa * bb)) return {};
    x += a.along * (dot(cross(y - x, b.along), way) / squared);
    y += b.along * (dot(b.along, x - y) / bb);
    length = std::sqrt(squared);
  } else {
    if (bb > 0) y += b.along * (dot(b.along, x - y) / bb);
    if (aa > 0) x += a.along * (dot(a.along, y - x) / aa);
    way = y - x;
    length = norm(way);
    // A short way has no accurate direction: no other part of the shapes may reach farther along it.
    if (length < 1e-3 * size && !is_proven(pair, way, length, size)) return {};
  }
  const Vec3 n = way * (dot(way, found.normal) < 0 ? -1.0 / length : 1.0 / length);
  return match_of(x, y, n, feature_radius(pair.a, found.feature_a), feature_radius(pair.b, found.feature_b));
}

// A point over a face.
Match point_on_face(const PairArguments& pair, const Distance& found) {
  const bool a_is_face = found.feature_a.kind == FeatureKind::face;
  const Shape &flat = a_is_face ? pair.a : pair.b, &other = a_is_face ? pair.b : pair.a;
  const Placement &at = a_is_face ? pair.at_a : pair.at_b, &at_other = a_is_face ? pair.at_b : pair.at_a;
  const FacePlane face = face_of(flat, a_is_face ? found.feature_a.index : found.feature_b.index);
  const Feature point = a_is_face ? found.feature_b : found.feature_a;
  const Vec3 outward = at.R * face.normal, x = at_other * point_of(other, point.index);
  const Vec3 foot = x - outward * dot(outward, x - at * face.point);
  const double radius = feature_radius(other, point);
  return a_is_face ? match_of(foot, x, outward, 0.0, radius) : match_of(x, foot, -outward, radius, 0.0);
}

Match solve(const PairArguments& pair, const Distance& found, double size) {
  const Feature a = found.feature_a, b = found.feature_b;
  if (!is_flat(pair.a, a, size) || !is_flat(pair.b, b, size)) return {};
  if (is_straight(a) && is_straight(b)) return straight(pair, found, size);
  const bool face_a = a.kind == FeatureKind::face, face_b = b.kind == FeatureKind::face;
  if (face_a && face_b) return {};
  if ((face_a && b.kind == FeatureKind::point) || (face_b && a.kind == FeatureKind::point))
    return point_on_face(pair, found);
  return polish(make_patch(pair.a, pair.at_a, a), make_patch(pair.b, pair.at_b, b), found.point_a,
                found.point_b, found.normal, size);
}

}  // namespace

namespace {

bool is_curved(Feature f) { return f.kind == FeatureKind::circle || f.kind == FeatureKind::surface; }

// By how much the grid may have turned the normal. Nearly parallel lines turn it most; that of a face only
// follows the face, but a foot just outside of the face has another, the more so the nearer it is.
double normal_noise(const Distance& found, double size) {
  const bool face = found.feature_a.kind == FeatureKind::face || found.feature_b.kind == FeatureKind::face;
  if (!face) return 1e-5;
  return std::min(1e-9 + 1e-13 * size / std::max(std::abs(found.distance), 1e-300), 1e-5);
}

// Whether a solution is the one that was found. On curved features the points found may be rough where the
// direction is not, and those of nearly flat rims move far: what counts is that the solution lies on the
// features.
bool is_same(const PairArguments& pair, const Distance& found, const Match& m, double size) {
  const bool curved = is_curved(found.feature_a) || is_curved(found.feature_b);
  if (!m.converged || !(std::abs(m.distance - found.distance) <= (curved ? 1e-9 : 1e-11) * size))
    return false;
  if (!(norm(m.n - found.normal) <= normal_noise(found, size))) return false;
  if (!curved) return squared_norm(m.a - found.point_a) <= 1e-10 * size * size;
  const Vec3 b = transpose_times(pair.at_b.R, m.b - pair.at_b.p);
  return lies_on(pair.a, found.feature_a, m.a, 1e-9 * size) &&
         lies_on(pair.b, found.feature_b, b, 1e-9 * size);
}

}  // namespace

namespace {

// Overlapping polyhedra whose direction is the normal of a face, but whose points were found at an edge of a
// facet of A - B, where they do not tell the features: that face, and the corner that is deepest below it.
bool by_face(const PairArguments& pair, Distance& d) {
  const Vec3 n_in_b = transpose_times(pair.at_b.R, d.normal);
  const SupportPoint a = support(pair.a, d.normal), b = support(pair.b, -n_in_b);
  if (a.vertex < 0 || b.vertex < 0) return false;
  const auto face_along = [](const Shape& shape, Vec3 n, int vertex) {
    const int face = nearest_face(shape, n, vertex);
    return face >= 0 && squared_norm(face_of(shape, face).normal - n) < 1e-14 ? face : -1;
  };
  if (const int face = face_along(pair.a, d.normal, a.vertex); face >= 0) {
    d.feature_a = {FeatureKind::face, face};
    d.feature_b = {FeatureKind::point, b.vertex};
    return true;
  }
  if (const int face = face_along(pair.b, -n_in_b, b.vertex); face >= 0) {
    d.feature_a = {FeatureKind::point, a.vertex};
    d.feature_b = {FeatureKind::face, face};
    return true;
  }
  return false;
}

Distance with(Distance d, const Match& m) {
  d.distance = m.distance;
  d.normal = m.n;
  d.point_a = m.a;
  d.point_b = m.b;
  return d;
}

}  // namespace

Match match_features(const PairArguments& pair, const Distance& found) {
  return solve(pair, found, std::max(size_of(pair.a), size_of(pair.b)));
}

Distance off_grid(const PairArguments& pair, const Distance& found) {
  const double size = std::max(size_of(pair.a), size_of(pair.b));
  const Match m = solve(pair, found, size);
  if (is_same(pair, found, m, size)) return with(found, m);
  const bool flat = found.feature_a.kind == FeatureKind::face && found.feature_b.kind == FeatureKind::face;
  Distance renamed = found;
  if (flat || found.distance > 0 || !by_face(pair, renamed)) return found;
  if (!is_flat(pair.a, renamed.feature_a, size) || !is_flat(pair.b, renamed.feature_b, size)) return found;
  const Match other = point_on_face(pair, renamed);
  const Vec3 b = transpose_times(pair.at_b.R, other.b - pair.at_b.p);
  // Of corners that are equally deep this one may be beside the face.
  const bool on_both = lies_on(pair.a, renamed.feature_a, other.a, 1e-9 * size) &&
                       lies_on(pair.b, renamed.feature_b, b, 1e-9 * size);
  return on_both && std::abs(other.distance - found.distance) <= 1e-11 * size ? with(renamed, other) : found;
}

}  // namespace articula::collision
