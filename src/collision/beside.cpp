#include "beside.hpp"

#include "features.hpp"

namespace articula::collision {
namespace {

constexpr double angle = 1e-5;

bool holds(const Feature* list, int count, Feature f) {
  for (int i = 0; i < count; ++i)
    if (list[i] == f) return true;
  return false;
}

void add(Feature* list, int& count, Feature f) {
  if (count < FlatFeatures::room && !holds(list, count, f)) list[count++] = f;
}

void add_face(const Shape& shape, int index, Vec3 n, FlatFeatures& flat) {
  if (squared_norm(face_of(shape, index).normal - n) < angle * angle)
    add(flat.face, flat.faces, {FeatureKind::face, index});
}

void add_line(const Shape& shape, int index, Vec3 n, FlatFeatures& flat) {
  if (std::abs(dot(unit(line_of(shape, index).along), n)) < angle)
    add(flat.line, flat.lines, {FeatureKind::line, index});
}

void add_box(const Shape& shape, Vec3 n, FlatFeatures& flat) {
  const double level = dot(n, support_box(shape.size, n).x) - angle * size_of(shape);
  for (int corner = 0; corner < 8; ++corner) {
    if (dot(n, box_corner(shape.size, corner)) < level) continue;
    add(flat.point, flat.points, {FeatureKind::point, corner});
    for (int axis = 0; axis < 3; ++axis) {
      add_line(shape, box_edge(axis, corner), n, flat);
      add_face(shape, 2 * axis + (corner >> axis & 1), n, flat);
    }
  }
}

// Around all vertices that reach as far along n as the farthest does, or nearly.
void add_mesh(const Shape& shape, Vec3 n, FlatFeatures& flat) {
  const Hull& hull = *shape.hull;
  const int farthest = support_mesh(hull, n).vertex;
  const double level = dot(n, hull.vertices[farthest]) - angle * hull.radius;
  add(flat.point, flat.points, {FeatureKind::point, farthest});
  for (int i = 0; i < flat.points; ++i) {
    const int v = flat.point[i].index;
    for (int f = hull.around_begin[v]; f < hull.around_begin[v + 1]; ++f)
      add_face(shape, hull.around[f], n, flat);
    for (int e = hull.edge_begin[v]; e < hull.edge_begin[v + 1]; ++e) {
      const int to = hull.edge_end[e];
      if (dot(n, hull.vertices[to]) < level) continue;
      if (hull.edge_bends[e]) add_line(shape, hull_edge(hull, std::min(v, to), std::max(v, to)), n, flat);
      add(flat.point, flat.points, {FeatureKind::point, to});
    }
  }
}

// Directions of lines in A's frame, each once.
struct Directions {
  Vec3 list[FlatFeatures::room];
  int count = 0;

  Directions(const Shape& shape, const FlatFeatures& flat, const Mat3& R) {
    for (int i = 0; i < flat.lines; ++i) {
      const Vec3 e = R * unit(line_of(shape, flat.line[i].index).along);
      bool seen = false;
      for (int j = 0; j < count; ++j) seen |= squared_norm(cross(list[j], e)) < 1e-30;
      if (!seen) list[count++] = e;
    }
  }
};

Vec3 across(Vec3 n, Vec3 e) { return unit(n - e * dot(e, n)); }

}  // namespace

FlatFeatures flat_features(const Shape& shape, Vec3 n) {
  FlatFeatures flat;
  switch (shape.type) {
    case ShapeType::box: add_box(shape, n, flat); break;
    case ShapeType::mesh: add_mesh(shape, n, flat); break;
    case ShapeType::cylinder: {
      const int cap = n[2] > 0 ? 1 : 0;
      add_face(shape, cap, n, flat);
      add_line(shape, 0, n, flat);
      add(flat.point, flat.points, {FeatureKind::circle, cap});
      add(flat.point, flat.points, {FeatureKind::circle, 1 - cap});
      break;
    }
    case ShapeType::capsule:
      add_line(shape, 0, n, flat);
      add(flat.point, flat.points, {FeatureKind::point, 0});
      add(flat.point, flat.points, {FeatureKind::point, 1});
      break;
    case ShapeType::ellipsoid: add(flat.point, flat.points, {FeatureKind::surface, 0}); break;
    default: add(flat.point, flat.points, {FeatureKind::point, 0}); break;
  }
  return flat;
}

Reach least_beside(const ConvexPair& pair, Vec3 n) {
  const Mat3& R = pair.b_in_a.R;
  const FlatFeatures a = flat_features(*pair.a, n), b = flat_features(*pair.b, -transpose_times(R, n));
  const Directions of_a(*pair.a, a, Mat3::identity()), of_b(*pair.b, b, R);
  Reach best{n, difference_extent(pair, n)};
  const auto consider = [&](Vec3 m) {
    const double extent = difference_extent(pair, m);
    if (extent < best.extent) best = {m, extent};
  };
  for (int i = 0; i < a.faces; ++i) consider(face_of(*pair.a, a.face[i].index).normal);
  for (int j = 0; j < b.faces; ++j) consider(-(R * face_of(*pair.b, b.face[j].index).normal));
  for (int i = 0; i < of_a.count; ++i)
    for (int j = 0; j < of_b.count; ++j) {
      const Vec3 product = cross(of_a.list[i], of_b.list[j]);
      const double sine = norm(product);
      if (!(sine > 1e-13)) continue;
      // The product of nearly parallel edges is not exactly across them.
      const Vec3 m = across(product * (dot(product, n) < 0 ? -1.0 / sine : 1.0 / sine), of_a.list[i]);
      if (squared_norm(m - n) < angle * angle) consider(m);
    }
  for (int i = 0; i < of_a.count; ++i) consider(across(n, of_a.list[i]));
  for (int j = 0; j < of_b.count; ++j) consider(across(n, of_b.list[j]));
  return best;
}

}  // namespace articula::collision
