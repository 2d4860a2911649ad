// The nearest point of A - B to the origin, by a simplex that walks towards it.
//
// Each step solves the simplex exactly: on a triangle the nearest point is along its normal, computed from
// the edges, so that its direction stays accurate when the distance is tiny against the shapes.

#include "gjk.hpp"

#include <limits>

namespace articula::collision {
namespace {

// The nearest point of a sub-simplex and its weights; `kept` lists the simplex points it lies between.
struct Nearest {
  Vec3 v;
  double squared = std::numeric_limits<double>::infinity();
  int kept[3] = {0, 0, 0};
  double weight[3] = {1, 0, 0};
  int count = 0;
};

Nearest nearest_on_segment(const Vec3* w, int i, int j) {
  const Vec3 e = w[j] - w[i];
  const double length = squared_norm(e), along = -dot(w[i], e);
  if (along <= 0 || length == 0) return {w[i], squared_norm(w[i]), {i, 0, 0}, {1, 0, 0}, 1};
  if (along >= length) return {w[j], squared_norm(w[j]), {j, 0, 0}, {1, 0, 0}, 1};
  const double t = along / length;
  // From the nearer end: the smaller vector has the smaller rounding error.
  const Vec3 v = t < 0.5 ? w[i] + e * t : w[j] - e * (1 - t);
  return {v, squared_norm(v), {i, j, 0}, {1 - t, t, 0}, 2};
}

Nearest nearest_on_triangle(const Vec3* w, int i, int j, int k) {
  const Vec3 e1 = w[j] - w[i], e2 = w[k] - w[i];
  const Vec3 n = cross(e1, e2);
  const double area = squared_norm(n);
  // Signed areas opposite each corner; all positive: the projection is inside.
  const double a_k = dot(n, cross(w[i], w[j]));
  const double a_i = dot(n, cross(w[j], w[k]));
  const double a_j = dot(n, cross(w[k], w[i]));
  if (area > 0 && a_i > 0 && a_j > 0 && a_k > 0) {
    const Vec3 v = n * (dot(n, w[i]) / area);
    const double s = 1.0 / (a_i + a_j + a_k);
    return {v, squared_norm(v), {i, j, k}, {a_i * s, a_j * s, a_k * s}, 3};
  }
  Nearest best;
  const auto consider = [&](int p, int q) {
    const Nearest candidate = nearest_on_segment(w, p, q);
    if (candidate.squared < best.squared) best = candidate;
  };
  if (a_k <= 0 || area == 0) consider(i, j);
  if (a_i <= 0 || area == 0) consider(j, k);
  if (a_j <= 0 || area == 0) consider(k, i);
  return best;
}

// The newest point is last; the origin is known to lie on its side of the opposite face.
Nearest nearest_on_tetrahedron(const Vec3* w, bool& inside) {
  const Vec3 d = w[3];
  const auto outside = [&](int i, int j, int opposite) {
    const Vec3 n = cross(w[i] - d, w[j] - d);
    const double origin = -dot(n, d), reference = dot(n, w[opposite] - d);
    return reference == 0 || (origin > 0) != (reference > 0);
  };
  Nearest best;
  inside = true;
  constexpr int sides[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
  for (const auto& side : sides)
    if (outside(side[0], side[1], side[2])) {
      inside = false;
      const Nearest candidate = nearest_on_triangle(w, side[0], side[1], 3);
      if (candidate.squared < best.squared) best = candidate;
    }
  return best;
}

void keep(GjkResult& r, const Nearest& nearest) {
  DifferencePoint points[3];
  for (int i = 0; i < nearest.count; ++i) points[i] = r.simplex[nearest.kept[i]];
  for (int i = 0; i < nearest.count; ++i) {
    r.simplex[i] = points[i];
    r.weight[i] = nearest.weight[i];
  }
  r.count = nearest.count;
  r.v = nearest.v;
}

bool holds(const GjkResult& r, const DifferencePoint& p) {
  for (int i = 0; i < r.count; ++i)
    if (squared_norm(r.simplex[i].w - p.w) == 0) return true;
  return false;
}

}  // namespace

void gjk(const ConvexPair& pair, double margin, double tolerance, GjkResult& r) {
  const double touching = 1e-11 * pair.size;
  if (r.count == 0) {
    const Vec3 p = pair.b_in_a.p;
    r.simplex[0] = difference_support(pair, squared_norm(p) > 0 ? p : Vec3(1, 0, 0));
    r.weight[0] = 1;
    r.count = 1;
    r.v = r.simplex[0].w;
  }
  constexpr int limit = 200;
  double squared = squared_norm(r.v);
  for (; r.iterations < limit; ++r.iterations) {
    const double length = std::sqrt(squared);
    r.distance = length;
    if (length <= touching) {
      r.status = GjkStatus::touching;
      return;
    }
    const DifferencePoint p = difference_support(pair, -r.v);
    const double bound = dot(r.v, p.w) / length;
    r.gap = length - bound;
    if (bound > r.lower) r.lower = bound;
    if (r.lower > margin) {
      r.status = GjkStatus::beyond;
      return;
    }
    if (r.gap <= tolerance || holds(r, p)) return;
    r.simplex[r.count] = p;
    Vec3 w[4];
    for (int i = 0; i <= r.count; ++i) w[i] = r.simplex[i].w;
    bool inside = false;
    const Nearest nearest = r.count == 1   ? nearest_on_segment(w, 0, 1)
                            : r.count == 2 ? nearest_on_triangle(w, 0, 1, 2)
                                           : nearest_on_tetrahedron(w, inside);
    if (inside) {
      r.last_v = r.v;
      for (int i = 0; i < r.count; ++i) {
        r.last_a += r.simplex[i].a * r.weight[i];
        r.last_b += r.simplex[i].b * r.weight[i];
      }
      r.count = 4;
      r.v = Vec3();
      r.distance = 0;
      r.status = GjkStatus::touching;
      return;
    }
    // Rounding decides from here on: the point before is as near as it gets.
    if (!(nearest.squared < squared)) return;
    keep(r, nearest);
    squared = nearest.squared;
  }
}

}  // namespace articula::collision
