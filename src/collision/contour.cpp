#include "contour.hpp"

#include "features.hpp"

namespace articula::collision {
namespace {

void box_face(const Shape& shape, const Placement& at, int face, Contour& c) {
  // Corners in turn: (-,-), (+,-), (+,+), (-,+) in the face's own two axes.
  const int axis = face / 2, j = (axis + 1) % 3, k = (axis + 2) % 3;
  constexpr int bits[4] = {0, 1, 3, 2};
  for (int i = 0; i < 4; ++i) {
    const int corner = ((face & 1) << axis) | ((bits[i] & 1) << j) | ((bits[i] >> 1) << k);
    const int along = i % 2 == 0 ? j : k;
    c.add(at * point_of(shape, corner), {FeatureKind::point, corner},
          {FeatureKind::line, box_edge(along, corner)});
  }
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
  for (int i = rim_points * face; i < rim_points * (face + 1); ++i)
    c.add(at * point_of(shape, i), {FeatureKind::point, i}, {FeatureKind::line, 1 + i});
}

void project(Contour& c, const Basis& T) {
  for (int i = 0; i < c.count; ++i) {
    c.x[i] = dot(T.t1, c.vertex(i));
    c.y[i] = dot(T.t2, c.vertex(i));
  }
}

// Twice the signed area; its sign is the sense in which the outline runs.
double turn(const Contour& c) {
  double area = 0;
  for (int i = 1; i + 1 < c.count; ++i)
    area += (c.x[i] - c.x[0]) * (c.y[i + 1] - c.y[0]) - (c.x[i + 1] - c.x[0]) * (c.y[i] - c.y[0]);
  return area;
}

bool inside(const Contour& c, double sense, double x, double y, double tolerance) {
  for (int i = 0, j = c.count - 1; i < c.count; j = i++) {
    const double ex = c.x[i] - c.x[j], ey = c.y[i] - c.y[j];
    const double side = sense * (ex * (y - c.y[j]) - ey * (x - c.x[j]));
    if (side < 0 && side * side > tolerance * tolerance * (ex * ex + ey * ey)) return false;
  }
  return true;
}

// Distance along n from x to the plane of a contour.
double to_plane(const Contour& c, Vec3 x, Vec3 n) { return dot(c.normal, c.point - x) / dot(c.normal, n); }

struct Clip {
  Contour &a, &b;
  Vec3 n;
  NormalRule rule;
  double margin, tolerance;
  ContactPoint* out;
  int limit, count = 0;

  bool near(double apart) const { return apart - a.radius - b.radius <= margin; }

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

void corners_of_a(Clip& k, double sense_b) {
  for (int i = 0; i < k.a.count; ++i) {
    const double apart = to_plane(k.b, k.a.vertex(i), k.n);
    if (k.near(apart) && inside(k.b, sense_b, k.a.x[i], k.a.y[i], k.tolerance))
      k.add(k.a.vertex(i), apart, k.a.at_vertex[i], {FeatureKind::face, k.b.face});
  }
}

// Corners that coincide count once, as A's.
bool is_corner_of(const Contour& c, double x, double y, double tolerance) {
  for (int i = 0; i < c.count; ++i)
    if (std::abs(c.x[i] - x) <= tolerance && std::abs(c.y[i] - y) <= tolerance) return true;
  return false;
}

void corners_of_b(Clip& k, double sense_a) {
  for (int i = 0; i < k.b.count; ++i) {
    const double apart = -to_plane(k.a, k.b.vertex(i), k.n);
    if (!k.near(apart) || !inside(k.a, sense_a, k.b.x[i], k.b.y[i], k.tolerance)) continue;
    if (k.b.closed && is_corner_of(k.a, k.b.x[i], k.b.y[i], 2 * k.tolerance)) continue;
    k.add(k.b.vertex(i) - k.n * apart, apart, {FeatureKind::face, k.a.face}, k.b.at_vertex[i]);
  }
}

// Of a contour against the plane of the other, which is the contact plane: the vertices not above the margin.
void mark_near(const Clip& k, const Contour& c, const Contour& plane, double sign, bool* near) {
  for (int i = 0; i < c.count; ++i) near[i] = k.near(sign * dot(k.n, c.vertex(i) - plane.point));
}

void crossings(Clip& k) {
  const Contour &a = k.a, &b = k.b;
  // An edge whose ends are both above the margin has no crossing below it.
  const bool skip_a = k.rule == NormalRule::face_b, skip_b = k.rule == NormalRule::face_a;
  bool near_a[Contour::room], near_b[Contour::room];
  if (skip_a) mark_near(k, a, b, -1.0, near_a);
  if (skip_b) mark_near(k, b, a, 1.0, near_b);
  for (int i = 0; i < a.edges(); ++i) {
    const int i2 = i + 1 < a.count ? i + 1 : 0;
    if (skip_a && !near_a[i] && !near_a[i2]) continue;
    const double ax = a.x[i2] - a.x[i], ay = a.y[i2] - a.y[i];
    if (a.at_edge[i].index < 0) continue;  // of a face that was thinned out
    const double reach_a = k.tolerance / std::sqrt(ax * ax + ay * ay);
    for (int j = 0; j < b.edges(); ++j) {
      const int j2 = j + 1 < b.count ? j + 1 : 0;
      if (skip_b && !near_b[j] && !near_b[j2]) continue;
      const double rx = b.x[j] - a.x[i], ry = b.y[j] - a.y[i];
      if (b.at_edge[j].index < 0) continue;
      // On which sides of a's edge do b's ends lie?
      const double s1 = ax * ry - ay * rx;
      const double s2 = ax * (b.y[j2] - a.y[i]) - ay * (b.x[j2] - a.x[i]);
      if ((s1 > 0) == (s2 > 0)) continue;
      const double bx = b.x[j2] - b.x[j], by = b.y[j2] - b.y[j];
      const double determinant = ax * by - ay * bx;
      const double t = (rx * by - ry * bx) / determinant, s = s1 / (s1 - s2);
      const double reach_b = k.tolerance / std::sqrt(bx * bx + by * by);
      if (!(t > reach_a && t < 1 - reach_a && s > reach_b && s < 1 - reach_b)) continue;
      const Vec3 xa = a.vertex(i) + (a.vertex(i2) - a.vertex(i)) * t;
      const Vec3 xb = b.vertex(j) + (b.vertex(j2) - b.vertex(j)) * s;
      k.add(xa, dot(k.n, xb - xa), a.at_edge[i], b.at_edge[j]);
    }
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
  project(a, T);
  project(b, T);
  Clip k{a, b, n, rule, margin, 1e-9 * size, out, limit};
  if (b.closed) corners_of_a(k, turn(b) > 0 ? 1.0 : -1.0);
  if (a.closed) corners_of_b(k, turn(a) > 0 ? 1.0 : -1.0);
  crossings(k);
  return k.count;
}

}  // namespace articula::collision
