#include "contour.hpp"

#include <algorithm>
#include <bit>

#include "features.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

void box_face(const Shape& shape, const Placement& at, int face, Contour& c) {
  // Corners in turn: (-,-), (+,-), (+,+), (-,+) in the face's own two axes.
  const int axis = face / 2, j = (axis + 1) % 3, k = (axis + 2) % 3, side = (face & 1) << axis;
  const Vec3 u = at.R.column(j) * shape.size[j], v = at.R.column(k) * shape.size[k];
  const Vec3 low = c.point - v, high = c.point + v;
  const auto add = [&](Vec3 x, int corner, int along) {
    c.add(x, {FeatureKind::point, corner}, {FeatureKind::line, box_edge(along, corner)});
  };
  add(low - u, side, j);
  add(low + u, side | 1 << j, k);
  add(high + u, side | 1 << j | 1 << k, j);
  add(high - u, side | 1 << k, k);
}

void mesh_face(const Shape& shape, const Placement& at, int face, Contour& c) {
  const Hull& hull = *shape.hull;
  const int begin = hull.face_begin[face], corners = hull.face_begin[face + 1] - begin;
  const int stride = (corners + Contour::room - 1) / Contour::room;
  for (int i = 0; i < corners; i += stride) {
    const int v = hull.face_loop[begin + i];
    const int next = hull.face_loop[begin + (i + stride < corners ? i + stride : 0)];
    const int edge = stride == 1 ? hull_edge(hull, v, next) : -1;
    c.add(at * hull.vertices[v], {FeatureKind::point, v}, {FeatureKind::line, edge});
  }
}

void cap_face(const Shape& shape, const Placement& at, int face, Contour& c) {
  c.disc = true;
  for (int i = rim_points * face; i < rim_points * (face + 1); ++i)
    c.add(at * point_of(shape, i), {FeatureKind::point, i}, {FeatureKind::line, 1 + i});
}

// Filled up to whole registers with the last vertex.
void project(Contour& c, const Basis& T, Vec3 n) {
  const Mat3 across = transpose({T.t1, T.t2, n});
  for (int i = 0; i < c.count; ++i) {
    const Vec3 seen = across * c.vertex(i);
    c.x[i] = seen[0], c.y[i] = seen[1], c.z[i] = seen[2];
  }
  for (int i = c.count; i % 4 != 0; ++i) c.x[i] = c.x[i - 1], c.y[i] = c.y[i - 1], c.z[i] = c.z[i - 1];
}

// Twice the signed area; its sign is the sense in which the outline runs.
double turn(const Contour& c) {
  double area = 0;
  for (int i = 1; i + 1 < c.count; ++i)
    area += (c.x[i] - c.x[0]) * (c.y[i + 1] - c.y[0]) - (c.x[i + 1] - c.x[0]) * (c.y[i] - c.y[0]);
  return area;
}

// A face's plane as a height over the contact plane: N.(x - p) = 0 solved for the part of x along n.
struct HeightPlane {
  double at_origin, along_x, along_y;

  HeightPlane(const Contour& face, const Basis& T, Vec3 n) {
    const double inverse = 1.0 / dot(face.normal, n);
    at_origin = dot(face.normal, face.point) * inverse;
    along_x = -dot(face.normal, T.t1) * inverse;
    along_y = -dot(face.normal, T.t2) * inverse;
  }
  Lanes operator()(Lanes x, Lanes y) const {
    return broadcast(at_origin) + broadcast(along_x) * x + broadcast(along_y) * y;
  }
};

// Which of four points lie inside a closed contour, as bits.
int inside(const Contour& c, Lanes x, Lanes y, double tolerance) {
  const double sense = turn(c) > 0 ? 1.0 : -1.0;
  Mask out = x != x;
  for (int i = 0, j = c.count - 1; i < c.count; j = i++) {
    const double ex = sense * (c.x[i] - c.x[j]), ey = sense * (c.y[i] - c.y[j]);
    const Lanes side = broadcast(ex) * (y - broadcast(c.y[j])) - broadcast(ey) * (x - broadcast(c.x[j]));
    const double slack = tolerance * tolerance * (ex * ex + ey * ey);
    out |= (side < broadcast(0.0)) & (side * side > broadcast(slack));
  }
  return lane_bits(~out);
}

struct Clip {
  Contour &a, &b;
  const Basis& T;
  Vec3 n;
  NormalRule rule;
  double margin, tolerance;
  ContactPoint* out;
  int limit, count = 0;
  unsigned taken = 0;  // bits of a's corners

  double reach() const { return margin + a.radius + b.radius; }

  // xa, xb on the cores, apart by `apart` along n.
  void add(Vec3 xa, double apart, Feature fa, Feature fb) {
    const double d = apart - a.radius - b.radius;
    if (d > margin || count == limit) return;
    ContactPoint& c = out[count++];
    c.position = xa + n * (a.radius + 0.5 * d);
    c.normal = n;
    c.distance = d;
    c.feature_a = fa;
    c.feature_b = fb;
    // The lowest point of a rim on a face needs no rule of its own.
    const bool rim = fa.kind == FeatureKind::circle || fb.kind == FeatureKind::circle;
    c.rule = rim ? NormalRule::features : rule;
    c.face_a = a.face;
    c.face_b = b.face;
    c.degenerate = false;
  }
};

constexpr unsigned quarters = 0x11111111;  // of a rim

// Whether a disc is over the other outline with all of its rim.
bool stands_on(const Contour& disc, const Contour& other, double tolerance) {
  if (!disc.disc || !other.closed) return false;
  for (int first = 0; first < disc.count; first += 4)
    if (inside(other, load4(disc.x + first), load4(disc.y + first), tolerance) != 0xf) return false;
  return true;
}

void corners_of_a(Clip& k) {
  const HeightPlane plane(k.b, k.T, k.n);
  for (int first = 0; first < k.a.count; first += 4) {
    const Lanes x = load4(k.a.x + first), y = load4(k.a.y + first);
    const Lanes apart = plane(x, y) - load4(k.a.z + first);
    const int near = lane_bits(apart <= broadcast(k.reach()));
    if (near == 0) continue;
    const int found = near & inside(k.b, x, y, k.tolerance);
    k.taken |= static_cast<unsigned>(found) << first;
    for (int i = 0; i < 4 && first + i < k.a.count; ++i)
      if (found >> i & 1 && (!k.a.stands || quarters >> (first + i) & 1))
        k.add(k.a.vertex(first + i), apart[i], k.a.at_vertex(first + i), {FeatureKind::face, k.b.face});
  }
}

// Corners that coincide count once, as A's; if A's is one: at the very edge of B it may be out by more than
// the tolerance and B's within.
bool is_taken(const Clip& k, double x, double y) {
  const Contour& a = k.a;
  const double tolerance = 2 * k.tolerance;
  for (int i = 0; i < a.count; ++i) {
    const bool there = std::abs(a.x[i] - x) <= tolerance && std::abs(a.y[i] - y) <= tolerance;
    if (there && (k.taken >> i & 1u) != 0) return true;
  }
  return false;
}

void corners_of_b(Clip& k) {
  const HeightPlane plane(k.a, k.T, k.n);
  for (int first = 0; first < k.b.count; first += 4) {
    const Lanes x = load4(k.b.x + first), y = load4(k.b.y + first);
    const Lanes apart = load4(k.b.z + first) - plane(x, y);
    const int near = lane_bits(apart <= broadcast(k.reach()));
    if (near == 0) continue;
    const int found = near & inside(k.a, x, y, k.tolerance);
    for (int i = 0; i < 4 && first + i < k.b.count; ++i) {
      if (!(found >> i & 1) || (k.b.stands && !(quarters >> (first + i) & 1))) continue;
      if (k.b.closed && is_taken(k, x[i], y[i])) continue;
      k.add(k.b.vertex(first + i) - k.n * apart[i], apart[i], {FeatureKind::face, k.a.face},
            k.b.at_vertex(first + i));
    }
  }
}

// Bits of vertices, moved from each to the one before it.
unsigned next_of(const Contour& c, unsigned side) { return side >> 1 | (side & 1u) << (c.count - 1); }

// Of a contour against the plane of the other, which is the contact plane: the edges with an end not above
// the margin.
unsigned near_edges(const Clip& k, const Contour& c, const Contour& plane, double sign) {
  const double level = dot(k.n, plane.point);
  unsigned near = 0;
  for (int i = 0; i < c.count; ++i) near |= (sign * (c.z[i] - level) <= k.reach() ? 1u : 0u) << i;
  return near | next_of(c, near);
}

// Bits of b's vertices to the left of a's edge from (x, y) along (ax, ay).
unsigned left_of(const Contour& b, double x, double y, double ax, double ay) {
  unsigned left = 0;
  for (int first = 0; first < b.count; first += 4) {
    const Lanes side = broadcast(ax) * (load4(b.y + first) - broadcast(y)) -
                       broadcast(ay) * (load4(b.x + first) - broadcast(x));
    left |= static_cast<unsigned>(lane_bits(side > broadcast(0.0))) << first;
  }
  return left & (~0u >> (32 - b.count));
}

// One edge of each, which cross as seen along n.
void add_crossing(Clip& k, int i, int j) {
  const Contour &a = k.a, &b = k.b;
  const int i2 = i + 1 < a.count ? i + 1 : 0, j2 = j + 1 < b.count ? j + 1 : 0;
  if (b.at_edge(j).index < 0) return;
  const double ax = a.x[i2] - a.x[i], ay = a.y[i2] - a.y[i], bx = b.x[j2] - b.x[j], by = b.y[j2] - b.y[j];
  const double rx = b.x[j] - a.x[i], ry = b.y[j] - a.y[i];
  const double s1 = ax * ry - ay * rx, s2 = ax * (b.y[j2] - a.y[i]) - ay * (b.x[j2] - a.x[i]);
  const double noise = k.tolerance * k.tolerance;
  // Edges on top of each other cross nowhere: their ends count.
  if (std::max(s1 * s1, s2 * s2) <= 16 * noise * (ax * ax + ay * ay)) return;
  const double t = (rx * by - ry * bx) / (ax * by - ay * bx), s = s1 / (s1 - s2);
  // Within both edges by more than the tolerance, as lengths: t |a| > tolerance.
  const double least_t = std::min(t, 1 - t), least_s = std::min(s, 1 - s);
  if (!(least_t > 0 && least_t * least_t * (ax * ax + ay * ay) > noise)) return;
  if (!(least_s > 0 && least_s * least_s * (bx * bx + by * by) > noise)) return;
  const Vec3 xa = a.vertex(i) + (a.vertex(i2) - a.vertex(i)) * t;
  const Vec3 xb = b.vertex(j) + (b.vertex(j2) - b.vertex(j)) * s;
  k.add(xa, dot(k.n, xb - xa), a.at_edge(i), b.at_edge(j));
}

void crossings(Clip& k) {
  const Contour &a = k.a, &b = k.b;
  const unsigned all_a = ~0u >> (32 - a.edges()), all_b = ~0u >> (32 - b.edges());
  // An edge whose ends are both above the margin has no crossing below it.
  const unsigned edges_a = k.rule == NormalRule::face_b ? all_a & near_edges(k, a, b, -1.0) : all_a;
  const unsigned edges_b = k.rule == NormalRule::face_a ? all_b & near_edges(k, b, a, 1.0) : all_b;
  if (edges_b == 0) return;
  for (unsigned rest = edges_a; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest), i2 = i + 1 < a.count ? i + 1 : 0;
    if (a.at_edge(i).index < 0) continue;  // of a face that was thinned out
    const unsigned left = left_of(b, a.x[i], a.y[i], a.x[i2] - a.x[i], a.y[i2] - a.y[i]);
    for (unsigned crossed = (left ^ next_of(b, left)) & edges_b; crossed != 0; crossed &= crossed - 1)
      add_crossing(k, i, std::countr_zero(crossed));
  }
}

}  // namespace

void face_contour(const Shape& shape, const Placement& at, int face, Contour& c) {
  c.closed = true;
  c.face = face;
  const FacePlane plane = face_of(shape, face);
  c.normal = at.R * plane.normal;
  c.point = at * plane.point;
  switch (shape.type) {
    case ShapeType::box: box_face(shape, at, face, c); return;
    case ShapeType::mesh: mesh_face(shape, at, face, c); return;
    default: cap_face(shape, at, face, c); return;
  }
}

void axis_contour(const Shape& shape, const Placement& at, Vec3 outward, Contour& c) {
  const bool capsule = shape.type == ShapeType::capsule;
  const FeatureKind end = capsule ? FeatureKind::point : FeatureKind::circle;
  Vec3 shift;
  if (capsule)
    c.radius = shape.size[0];
  else
    shift = unit(outward - at.R.z * dot(at.R.z, outward)) * shape.size[0];
  c.add(at * Vec3(0, 0, -shape.size[1]) + shift, {end, 0}, {FeatureKind::line, 0});
  c.add(at * Vec3(0, 0, shape.size[1]) + shift, {end, 1}, {FeatureKind::line, 0});
}

int clip(Contour& a, Contour& b, Vec3 n, NormalRule rule, double margin, double size, ContactPoint* out,
         int limit) {
  const Basis T(n);
  project(a, T, n);
  project(b, T, n);
  Clip k{a, b, T, n, rule, margin, 1e-9 * size, out, limit};
  a.stands = stands_on(a, b, k.tolerance);
  b.stands = stands_on(b, a, k.tolerance);
  if (b.closed) corners_of_a(k);
  if (a.closed) corners_of_b(k);
  crossings(k);
  return k.count;
}

}  // namespace articula::collision
