#include "field_prism.hpp"

#include <algorithm>

#include "features.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// Vertices 0 to 2 of the mesh are the triangle's corners, 3 to 5 lie below them. Faces, edges and the order
// of vertices stay; only places change from triangle to triangle.
struct Prism {
  std::shared_ptr<Hull> hull;
  Shape shape;

  Prism()
      : hull(std::make_shared<Hull>(make_hull(
            {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, -1}, {1, 0, -1}, {0, 1, -1}},
            {{0, 1, 2}, {3, 5, 4}, {0, 3, 1}, {1, 3, 4}, {1, 4, 2}, {2, 4, 5}, {2, 5, 0}, {0, 5, 3}}))),
        shape(Shape::mesh(hull)) {}

  int corner(int vertex) const { return hull->mesh_vertex[vertex] % 3; }
  bool is_low(int vertex) const { return hull->mesh_vertex[vertex] >= 3; }

  void place(const FieldTriangle& t, double bottom);
};

void Prism::place(const FieldTriangle& t, double bottom) {
  Hull& h = *hull;
  for (int v = 0; v < h.vertex_count(); ++v) {
    const Vec3 top = t.corner[corner(v)];
    h.vertices[v] = is_low(v) ? Vec3(top[0], top[1], bottom) : top;
  }
  update_vertices(h);
  for (int f = 0; f < h.face_count(); ++f) {
    const int* loop = &h.face_loop[h.face_begin[f]];
    const Vec3 a = h.vertices[loop[0]], b = h.vertices[loop[1]], c = h.vertices[loop[2]];
    h.face_normal[f] = unit(cross(b - a, c - b));
    h.face_offset[f] = dot(h.face_normal[f], a);
  }
}

Prism& prism_of_this_thread() {
  thread_local Prism prism;
  return prism;
}

// Which corner of the grid a corner of a triangle is.
int grid_corner(const HeightField& f, int triangle, int corner) {
  const int cell = triangle / 2, row = cell / (f.columns - 1), column = cell % (f.columns - 1);
  const bool upper = triangle % 2 == 1;
  const int along_row = corner == 1 ? 1 : 0, along_column = corner == 2 ? 1 : 0;
  // The upper half is the lower one turned by half a turn.
  return upper ? (row + 1 - along_column) * f.columns + column + 1 - along_row
               : (row + along_column) * f.columns + column + along_row;
}

Feature line_on_field(const HeightField& f, const Prism& prism, int triangle, int edge) {
  const int from = prism.hull->edge_start[edge], to = prism.hull->edge_end[edge];
  const int i = prism.corner(from), j = prism.corner(to);
  if (i == j) return {FeatureKind::line, field_wall_edge(f, grid_corner(f, triangle, i))};
  // Edges 0-1 run along a row, 0-2 along a column, 1-2 across the cell.
  const int direction = i + j - 1;
  const int first = grid_corner(f, triangle, i), second = grid_corner(f, triangle, j);
  const int low = direction == 2 ? std::min(first, second) - 1 : std::min(first, second);
  return {FeatureKind::line, field_edge(f, low / f.columns, low % f.columns, direction)};
}

Feature face_on_field(const HeightField& f, const Prism& prism, int triangle, int face) {
  const int* loop = &prism.hull->face_loop[prism.hull->face_begin[face]];
  if (prism.hull->face_begin[face + 1] - prism.hull->face_begin[face] == 3)
    return {FeatureKind::face, triangle};
  bool has[3] = {false, false, false};
  for (int i = 0; i < 4; ++i) has[prism.corner(loop[i])] = true;
  const int side = !has[2] ? 0 : !has[0] ? 1 : 2;  // from that corner to the next
  return {FeatureKind::face, field_wall(f, triangle, side)};
}

Feature on_field(const HeightField& f, const Prism& prism, int triangle, Feature feature) {
  if (feature.kind == FeatureKind::point)
    return {FeatureKind::point, grid_corner(f, triangle, prism.corner(feature.index))};
  return feature.kind == FeatureKind::line ? line_on_field(f, prism, triangle, feature.index)
                                           : face_on_field(f, prism, triangle, feature.index);
}

}  // namespace

void prepare_prism() { prism_of_this_thread(); }

Distance distance_from_prism(const PairArguments& pair, int triangle, double bottom, double limit) {
  const HeightField& field = *pair.b.field;
  Prism& prism = prism_of_this_thread();
  prism.place(field_triangle(field, triangle), bottom);
  Distance d = distance_unchecked(pair.a, pair.at_a, prism.shape, pair.at_b, limit);
  d.feature_b = on_field(field, prism, triangle, d.feature_b);
  return d;
}

}  // namespace articula::collision
