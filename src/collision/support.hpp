#pragma once
// Support functions of the cores: the farthest point of a shape along a direction.

#include <algorithm>
#include <cmath>

#include "articula/collision/shape.hpp"
#include "vector.hpp"

namespace articula::collision {

// A point of the core that is farthest along d; `vertex` says which for polyhedral cores (-1: curved).
struct SupportPoint {
  Vec3 x;
  int vertex = -1;
};

inline double core_radius(const Shape& shape) {
  return shape.type == ShapeType::sphere || shape.type == ShapeType::capsule ? shape.size[0] : 0.0;
}
inline bool is_curved(const Shape& shape) {
  return shape.type == ShapeType::cylinder || shape.type == ShapeType::ellipsoid;
}

inline Vec3 box_corner(Vec3 half, int corner) { return with_signs(half, corner); }

int support_scan(const Hull& hull, Vec3 d);

inline Lanes load4(const double* p) {
  Lanes lanes;
  __builtin_memcpy(&lanes, p, sizeof lanes);
  return lanes;
}

// Climbs to the neighbour that is farthest until none is farther: on a convex polyhedron that is the end.
inline int support_climb(const Hull& hull, Vec3 d, int vertex) {
  const Lanes dx = broadcast(d[0]), dy = broadcast(d[1]), dz = broadcast(d[2]);
  double best =
      hull.vertices[vertex][0] * d[0] + hull.vertices[vertex][1] * d[1] + hull.vertices[vertex][2] * d[2];
  for (;;) {
    int next = -1;
    for (int g = hull.ring_begin[vertex]; g < hull.ring_begin[vertex + 1]; ++g) {
      const double* place = &hull.ring_place[12 * static_cast<std::size_t>(g)];
      const Lanes value = load4(place) * dx + load4(place + 4) * dy + load4(place + 8) * dz;
      const int low = value[1] > value[0] ? 1 : 0, high = value[3] > value[2] ? 3 : 2;
      const double first = std::max(value[0], value[1]), second = std::max(value[2], value[3]);
      const double most = std::max(first, second);
      if (most > best) {
        best = most;
        next = 4 * g + (second > first ? high : low);
      }
    }
    if (next < 0) return vertex;
    vertex = hull.ring_vertex[next];
  }
}

// Cell of a direction on the surface of a cube: side, then row and column on it.
inline int start_cell(Vec3 d, int cells) {
  const double x = std::abs(d[0]), y = std::abs(d[1]), z = std::abs(d[2]);
  const int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  const double along = axis == 0 ? d[0] : axis == 1 ? d[1] : d[2];
  const double u = axis == 0 ? d[1] : d[0], v = axis == 2 ? d[1] : d[2];
  const double middle = 0.5 * cells, scale = along != 0 ? middle / std::abs(along) : 0.0;
  const int i = std::clamp(static_cast<int>(middle + u * scale), 0, cells - 1);
  const int j = std::clamp(static_cast<int>(middle + v * scale), 0, cells - 1);
  return ((2 * axis + (along > 0 ? 1 : 0)) * cells + i) * cells + j;
}

inline int start_vertex(const Hull& hull, Vec3 d) {
  return hull.start[static_cast<std::size_t>(start_cell(d, hull.cells))];
}

inline SupportPoint support_mesh(const Hull& hull, Vec3 d) {
  const int v = hull.vertex_count() <= scanned_vertices ? support_scan(hull, d)
                                                        : support_climb(hull, d, start_vertex(hull, d));
  return {hull.vertices[v], v};
}

inline SupportPoint support_box(Vec3 half, Vec3 d) {
  using Bits = long long __attribute__((vector_size(32)));
  const Bits sign = reinterpret_cast<Bits>(d.lanes) & Bits{1LL << 63, 1LL << 63, 1LL << 63, 0};
  const Vec3 x(reinterpret_cast<Lanes>(reinterpret_cast<Bits>(half.lanes) | sign));
  return {x, (sign[0] == 0 ? 1 : 0) | (sign[1] == 0 ? 2 : 0) | (sign[2] == 0 ? 4 : 0)};
}

// In the shape's own frame; d need not be a unit vector.
inline SupportPoint support(const Shape& shape, Vec3 d) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::capsule:
      return d[2] > 0 ? SupportPoint{Vec3(0, 0, s[1]), 1} : SupportPoint{Vec3(0, 0, -s[1]), 0};
    case ShapeType::box: return support_box(s, d);
    case ShapeType::mesh: return support_mesh(*shape.hull, d);
    case ShapeType::cylinder: {
      const double across = std::sqrt(d[0] * d[0] + d[1] * d[1]);
      const double scale = across > 0 ? s[0] / across : 0.0;
      return {Vec3(across > 0 ? d[0] * scale : s[0], d[1] * scale, d[2] > 0 ? s[1] : -s[1]), -1};
    }
    case ShapeType::ellipsoid: {
      const Vec3 sd = elementwise(s, d);
      const double h = norm(sd);
      return {h > 0 ? elementwise(s, sd) * (1.0 / h) : Vec3(s[0], 0, 0), -1};
    }
    default: return {Vec3(), 0};  // sphere
  }
}

// Two cores, the second placed in the first one's frame, so that precision does not depend on where in the
// world they are.
struct ConvexPair {
  const Shape* a = nullptr;
  const Shape* b = nullptr;
  Placement b_in_a;
  double size = 0.0;  // the larger of the two

  ConvexPair(const Shape& first, const Shape& second, const Placement& second_in_first)
      : a(&first),
        b(&second),
        b_in_a(second_in_first),
        size(std::max(size_of(first), size_of(second))) {}
};

// A vertex of the difference A - B, and the points of A and B it is made of (all in A's frame).
struct DifferencePoint {
  Vec3 w, a, b;
  int vertex_a = -1, vertex_b = -1;
};

// The point of A - B farthest along d.
inline DifferencePoint difference_support(const ConvexPair& pair, Vec3 d) {
  const SupportPoint sa = support(*pair.a, d);
  const SupportPoint sb = support(*pair.b, transpose_times(pair.b_in_a.R, -d));
  const Vec3 xb = pair.b_in_a * sb.x;
  return {sa.x - xb, sa.x, xb, sa.vertex, sb.vertex};
}

// h(n) = max over A - B of n . w : minus the separation along n, for a unit vector n.
inline double difference_extent(const ConvexPair& pair, Vec3 n) {
  const SupportPoint sa = support(*pair.a, n);
  const Vec3 nb = transpose_times(pair.b_in_a.R, n);
  const SupportPoint sb = support(*pair.b, -nb);
  return dot(n, sa.x) - dot(nb, sb.x) - dot(n, pair.b_in_a.p);
}

}  // namespace articula::collision
