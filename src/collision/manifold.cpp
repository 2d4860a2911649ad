// From the nearest points of two shapes to the points that carry them.

#include <algorithm>

#include "contour.hpp"
#include "convex.hpp"
#include "features.hpp"
#include "frame_of_a.hpp"
#include "off_grid.hpp"
#include "pairs.hpp"
#include "polish.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

bool has_axis(const Shape& s) { return s.type == ShapeType::capsule || s.type == ShapeType::cylinder; }
bool is_polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }

int some_vertex(const Shape& shape, Feature f) {
  if (shape.type != ShapeType::mesh) return 0;
  const Hull& hull = *shape.hull;
  return f.kind == FeatureKind::point  ? f.index
         : f.kind == FeatureKind::line ? hull.edge_start[f.index]
                                       : hull.face_loop[hull.face_begin[f.index]];
}

// What one shape offers to a contact with outward direction n (in its own frame).
struct Offer {
  int face = -1;  // the face nearest to n
  Vec3 normal;
  bool flat = false;   // that face lies in the contact plane
  bool lying = false;  // its axis does
};

Offer offer(const Shape& shape, Vec3 n, Feature nearest) {
  Offer o;
  o.face = nearest_face(shape, n, some_vertex(shape, nearest));
  if (o.face >= 0) {
    o.normal = face_of(shape, o.face).normal;
    o.flat = dot(n, o.normal) >= flat_cosine;
  }
  o.lying = has_axis(shape) && std::abs(n[2]) <= flat_angle;
  return o;
}

bool offers_outline(const Shape& shape, const Offer& o) { return is_polyhedral(shape) || o.lying || o.flat; }

void outline(const Shape& shape, const Placement& at, const Offer& o, Vec3 outward, Contour& c) {
  if (o.lying && !o.flat)
    axis_contour(shape, at, outward, c);
  else
    face_contour(shape, at, o.face, c);
}

// The feature at one end of a line feature.
Feature line_end(const Shape& shape, int line, bool upper) {
  switch (shape.type) {
    case ShapeType::capsule: return {FeatureKind::point, upper ? 1 : 0};
    case ShapeType::cylinder: return {FeatureKind::circle, upper ? 1 : 0};
    case ShapeType::mesh:
      return {FeatureKind::point, upper ? shape.hull->edge_end[line] : shape.hull->edge_start[line]};
    default: {
      const int axis = line / 4, j = (axis + 1) % 3, k = (axis + 2) % 3;
      const int corner = ((line & 1) << j) | (((line >> 1) & 1) << k);
      return {FeatureKind::point, corner | (upper ? 1 << axis : 0)};
    }
  }
}

// Seen along a face's normal the outlines may miss the nearest points (edges that cross just outside a face):
// these are then a contact of their own. Rims are seen as polygons, which miss by less than (angle)^2.
int include_nearest(const PairArguments& pair, const Distance& nearest, ContactPoint* points, int count) {
  const double size = std::max(size_of(pair.a), size_of(pair.b));
  const bool polygons = is_polyhedral(pair.a) && is_polyhedral(pair.b);
  const double slack = (polygons ? 1e-6 : flat_angle * flat_angle) * size + 1e-3 * std::abs(nearest.distance);
  for (int i = 0; i < count; ++i)
    if (points[i].distance <= nearest.distance + slack) return count;
  points[count] = contact_of(off_grid(pair, nearest));
  return count + 1;
}

// The edge at a corner that is parallel to a line (unit, in the shape's frame); the corner itself if none is.
Feature edge_along(const Shape& shape, Feature corner, Vec3 line) {
  if (corner.kind != FeatureKind::point || !is_polyhedral(shape)) return corner;
  const auto parallel = [&](Vec3 e) {
    return squared_norm(cross(e, line)) <= parallel_angle * parallel_angle * squared_norm(e);
  };
  if (shape.type == ShapeType::box) {
    for (int axis = 0; axis < 3; ++axis)
      if (parallel(axis_vector(axis))) return {FeatureKind::line, box_edge(axis, corner.index)};
    return corner;
  }
  const Hull& hull = *shape.hull;
  for (int e = hull.edge_begin[corner.index]; e < hull.edge_begin[corner.index + 1]; ++e) {
    const int to = hull.edge_end[e];
    if (!hull.edge_bends[e] || !parallel(hull.vertices[to] - hull.vertices[corner.index])) continue;
    return {FeatureKind::line, hull_edge(hull, std::min(to, corner.index), std::max(to, corner.index))};
  }
  return corner;
}

// Of parallel lines the nearest points may as well be found at an end.
void follow_lines(const PairArguments& pair, Feature& a, Feature& b) {
  if (a.kind == FeatureKind::line)
    b = edge_along(pair.b, b, transpose_times(pair.at_b.R, unit(line_of(pair.a, a.index).along)));
  else if (b.kind == FeatureKind::line)
    a = edge_along(pair.a, a, pair.at_b.R * unit(line_of(pair.b, b.index).along));
}

// Parallel lines: the two ends of their overlap, each solved as an end of one line against the other line.
int parallel_lines(const PairArguments& pair, const Distance& nearest, ContactPoint* out) {
  const Segment la = line_of(pair.a, nearest.feature_a.index), lb = line_of(pair.b, nearest.feature_b.index);
  const double size = std::max(norm(la.along), norm(lb.along));
  const Placement &at_a = pair.at_a, &at_b = pair.at_b;
  const Vec3 ea = unit(la.along), eb = at_b.R * unit(lb.along);
  const double radius_a = feature_radius(pair.a, nearest.feature_a);
  const double core_gap = nearest.distance + radius_a + feature_radius(pair.b, nearest.feature_b);
  if (squared_norm(cross(ea, eb)) > parallel_angle * parallel_angle || core_gap < 1e-6 * size) return 0;
  // Parameters along ea of all four ends.
  const Vec3 a0 = la.from, b0 = at_b * lb.from;
  const double length_a = norm(la.along), shift = dot(ea, b0 - a0), span = dot(ea, eb) * norm(lb.along);
  const double b_low = std::min(shift, shift + span), b_high = std::max(shift, shift + span);
  if (std::min(length_a, b_high) - std::max(0.0, b_low) <= 1e-6 * size) return 0;
  const double noise = 1e-10 * size;
  int count = 0;
  bool solved = false;
  Vec3 normal_below;
  for (const bool upper : {false, true}) {
    const bool of_a = upper ? length_a <= b_high + noise : 0.0 >= b_low - noise;
    const double t = upper ? std::min(length_a, b_high) : std::max(0.0, b_low);
    ContactPoint c = contact_of(nearest);
    if (of_a)
      c.feature_a = line_end(pair.a, nearest.feature_a.index, upper);
    else
      c.feature_b = line_end(pair.b, nearest.feature_b.index, upper == (span > 0));
    const Vec3 guess_a = a0 + ea * t + nearest.normal * radius_a,
               guess_b = guess_a + nearest.normal * nearest.distance;
    const Match m = polish(make_patch(pair.a, at_a, c.feature_a), make_patch(pair.b, at_b, c.feature_b),
                           guess_a, guess_b, nearest.normal, size);
    if (!m.converged) continue;
    // Lines closer to each other than their ends stray apart: only the crossing has the pair's normal, and
    // lies anywhere between those of the ends.
    if (upper && solved && dot(m.n, normal_below) < flat_cosine) return 0;
    solved = true;
    normal_below = m.n;
    if (m.distance > pair.margin) continue;
    c.position = (m.a + m.b) * 0.5;
    c.normal = m.n;
    c.distance = m.distance;
    out[count++] = c;
  }
  return count;
}

}  // namespace

int manifold(const PairArguments& pair, const Distance& nearest, ContactPoint* out) {
  const Offer oa = offer(pair.a, nearest.normal, nearest.feature_a);
  const Offer ob = offer(pair.b, transpose_times(pair.at_b.R, -nearest.normal), nearest.feature_b);
  const bool by_a = oa.flat && offers_outline(pair.b, ob), by_b = ob.flat && offers_outline(pair.a, oa);
  int count = 0;
  if (by_a || by_b) {
    Contour ca, cb;
    const bool both = oa.flat && ob.flat;
    const NormalRule rule = both ? NormalRule::faces : by_a ? NormalRule::face_a : NormalRule::face_b;
    const Vec3 na = oa.normal, nb = pair.at_b.R * ob.normal;
    const Vec3 n = both ? unit(na - nb) : by_a ? na : -nb;
    outline(pair.a, pair.at_a, oa, n, ca);
    outline(pair.b, pair.at_b, ob, -n, cb);
    Uncleared<ContactPoint, 64> buffer;
    ContactPoint* points = buffer.data();
    const double size = std::max(size_of(pair.a), size_of(pair.b));
    count = clip(ca, cb, n, rule, pair.margin, size, points, 63);
    // The rim of a disc that stands is nowhere lower than its four points by more than its tilt allows.
    const bool stands = (ca.stands || cb.stands) && count > 0;
    if (!stands) count = include_nearest(pair, nearest, points, count);
    const bool boxes = pair.a.type == ShapeType::box && pair.b.type == ShapeType::box;
    count = reduce(points, count, boxes ? std::max(pair.most, max_contact_points) : pair.most);
    std::copy(points, points + count, out);
  } else {
    Distance along = nearest;
    if (oa.lying) along.feature_a = {FeatureKind::line, 0};
    if (ob.lying) along.feature_b = {FeatureKind::line, 0};
    follow_lines(pair, along.feature_a, along.feature_b);
    if (along.feature_a.kind == FeatureKind::line && along.feature_b.kind == FeatureKind::line)
      count = parallel_lines(pair, along, out);
  }
  if (count > 0) return count;
  *out = contact_of(off_grid(pair, nearest));
  return 1;
}

namespace {

// Found on the grid: the features are right, the numbers but for its step.
Distance nearest_on_grid(const PairArguments& pair) {
  ConvexPair convex(pair.a, pair.b, pair.at_b);
  convex.b_in_a = on_grid(pair.at_b, convex.size);
  const ConvexDistance c = convex_distance(convex, pair.margin);
  Distance d;
  d.distance = c.distance;
  d.beyond = c.beyond || c.distance > pair.margin;
  d.exact = c.exact;
  d.degenerate = c.tie;
  if (c.beyond) return d;
  d.normal = c.normal;
  d.point_a = c.a;
  d.point_b = c.b;
  d.feature_a = c.feature_a;
  d.feature_b = c.feature_b;
  return d;
}

}  // namespace

Distance convex_convex(const PairArguments& pair) {
  const Distance d = nearest_on_grid(pair);
  return d.beyond ? d : off_grid(pair, d);
}

// Some side of the two bounding boxes separates the shapes by more than the margin.
bool boxes_apart(const PairArguments& pair) {
  const Bound a = bound(pair.a), b = bound(pair.b);
  const Placement& b_in_a = pair.at_b;
  const Mat3& R = b_in_a.R;
  const Mat3 Q{absolute(R.x), absolute(R.y), absolute(R.z)};
  const Vec3 t = b_in_a * b.centre - a.centre;
  const double reach = pair.margin + 1e-12 * (a.radius + b.radius);
  const Vec3 by_a = absolute(t) - a.half - Q * b.half;
  if (by_a[0] > reach || by_a[1] > reach || by_a[2] > reach) return true;
  const Vec3 by_b = absolute(transpose_times(R, t)) - b.half - transpose_times(Q, a.half);
  return by_b[0] > reach || by_b[1] > reach || by_b[2] > reach;
}

int convex_contacts(const PairArguments& pair, ContactPoint* out) {
  if (boxes_apart(pair)) return 0;
  const Distance nearest = nearest_on_grid(pair);
  if (nearest.beyond) return 0;
  const int count = manifold(pair, nearest, out);
  for (int i = 0; i < count; ++i) out[i].degenerate |= nearest.degenerate;
  if (pair.a.type == ShapeType::capsule) return add_capsule_ends(pair, out, count);
  const bool boxes = pair.a.type == ShapeType::box && pair.b.type == ShapeType::box;
  return boxes ? add_box_corners(pair, out, count) : count;
}

}  // namespace articula::collision
