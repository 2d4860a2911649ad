#include "starts.hpp"

#include "descent.hpp"
#include "features.hpp"

namespace articula::collision {
namespace {

int face_count(const Shape& shape) {
  switch (shape.type) {
    case ShapeType::box: return 6;
    case ShapeType::cylinder: return 2;
    case ShapeType::mesh: return shape.hull->face_count();
    default: return 0;
  }
}

// In the place of one hardly off it, at the end, or, where there is no room, in the place of the one that
// reaches farthest; always of two the one that reaches less.
void insert(Starts& s, const Start& start) {
  constexpr double apart = 0.03;
  int farthest = 0;
  for (int i = 0; i < s.count; ++i) {
    if (squared_norm(s.list[i].n - start.n) < apart * apart) {
      if (start.extent < s.list[i].extent) s.list[i] = start;
      return;
    }
    if (s.list[i].extent > s.list[farthest].extent) farthest = i;
  }
  if (s.count < Starts::room)
    s.list[s.count++] = start;
  else if (start.extent < s.list[farthest].extent)
    s.list[farthest] = start;
}

}  // namespace

Starts starts_of(const ConvexPair& pair, Polytope& P) {
  Starts starts;
  const Mat3& R = pair.b_in_a.R;
  const auto add = [&](Vec3 n, int face_a, int face_b) {
    insert(starts, {n, difference_extent(pair, n), face_a, face_b});
    const auto turn_across = [&](Vec3 axis) {
      const Vec3 across = n - axis * dot(axis, n);
      if (!(squared_norm(across) > 1e-6)) return;
      const Vec3 m = unit(across);
      insert(starts, {m, difference_extent(pair, m), -1, -1});
    };
    if (pair.a->type == ShapeType::cylinder) turn_across(Vec3(0, 0, 1));
    if (pair.b->type == ShapeType::cylinder) turn_across(R.z);
  };
  for (int f = 0; f < face_count(*pair.a); ++f) add(face_of(*pair.a, f).normal, f, -1);
  for (int f = 0; f < face_count(*pair.b); ++f) add(-(R * face_of(*pair.b, f).normal), -1, f);
  const bool ellipsoids = pair.a->type == ShapeType::ellipsoid && pair.b->type == ShapeType::ellipsoid;
  for (int f = 0; f < P.face_count; ++f)
    if (P.face(f).alive && P.key[f] < INFINITY) add(P.face(f).n, -1, -1);
  if (!ellipsoids) return starts;
  for (const Vec3 axis : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), R.x, R.y, R.z})
    add(axis, -1, -1), add(-axis, -1, -1);
  for (int i = 0; i < starts.count; ++i) starts.list[i].n = descend_ellipsoids(pair, starts.list[i].n);
  return starts;
}

}  // namespace articula::collision
