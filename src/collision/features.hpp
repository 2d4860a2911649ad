#pragma once
// Where the features of a shape are, in its own frame, and which feature a set of vertices spans.

#include <array>

#include "articula/collision/shape.hpp"

namespace articula::collision {

struct Segment {
  Vec3 from, along;  // from + t along, t in [0, 1]
};
struct FacePlane {
  Vec3 normal, point;
};

// Offset of a point or line feature from the surface it stands for: a core's radius.
inline double feature_radius(const Shape& shape, Feature f) {
  const bool rounded = shape.type == ShapeType::sphere || shape.type == ShapeType::capsule ||
                       (shape.type == ShapeType::cylinder && f.kind == FeatureKind::line && f.index == 0);
  return rounded ? shape.size[0] : 0.0;
}

// Where a point feature of a capsule is on its axis, from -1 to 1; and the one nearest to such a place.
double axis_place(int index);
int nearest_axis_point(double place);

Vec3 point_of(const Shape& shape, int index);
Segment line_of(const Shape& shape, int index);
FacePlane face_of(const Shape& shape, int index);

// A corner of a height field's grid; its point feature is row * columns + column. Triangle 2 cell and 2 cell
// + 1 of a cell are its lower left and upper right halves.
Vec3 field_corner(const HeightField& field, int row, int column);
struct FieldTriangle {
  Vec3 corner[3];
};
FieldTriangle field_triangle(const HeightField& field, int index);
// Line feature of a field: from a corner along its row (0), along its column (1), or across the cell (2),
// from the corner beside it in the row to the one beside it in the column.
inline int field_edge(const HeightField& field, int row, int column, int direction) {
  return 3 * (row * field.columns + column) + direction;
}
// The ground goes straight down from every side of a triangle: walls, faces counted after the triangles, side
// 0 to 2 from that corner to the next; and from every corner: lines counted after the grid's edges.
inline int field_triangles(const HeightField& field) { return 2 * (field.rows - 1) * (field.columns - 1); }
inline int field_wall(const HeightField& field, int triangle, int side) {
  return field_triangles(field) + 3 * triangle + side;
}
inline int field_wall_edge(const HeightField& field, int corner) {
  return 3 * field.rows * field.columns + corner;
}

// The face whose outward normal is nearest to n (unit), among those around a vertex for meshes; -1 for shapes
// without faces.
int nearest_face(const Shape& shape, Vec3 n, int vertex);

// The smallest feature of a box, mesh or core that holds the vertices; n decides among faces.
Feature spanned_feature(const Shape& shape, const int* vertices, int count, Vec3 n);

// Whether the farthest point along n, the vertex given or of a curved shape, belongs to the feature.
bool holds_support(const Shape& shape, Feature feature, int vertex, Vec3 n);

// The hull edge from one vertex to another; -1 if they are not neighbours.
int hull_edge(const Hull& hull, int from, int to);

// Box edge 4 axis + signs, from the bits of one of its corners.
constexpr int box_edge(int axis, int corner) {
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  return 4 * axis + ((corner >> j) & 1) + 2 * ((corner >> k) & 1);
}

// The edges of a box or mesh at a corner, as features; of very many the first.
struct EdgesAt {
  EdgesAt(const Shape& shape, int vertex);
  static constexpr int room = 32;
  int list[room];
  int count = 0;
};

// Feature of a box by the axes along which a point outside is beyond it, and on which side of each axis it
// is.
inline constexpr auto box_features = [] {
  std::array<std::array<Feature, 8>, 8> table{};
  for (int beyond = 1; beyond < 8; ++beyond)
    for (int corner = 0; corner < 8; ++corner) {
      const int free = 7 ^ beyond, axis = free == 1 || beyond == 1 ? 0 : free == 2 || beyond == 2 ? 1 : 2;
      table[beyond][corner] = free == 0 ? Feature{FeatureKind::point, corner}
                              : (free & (free - 1)) == 0
                                  ? Feature{FeatureKind::line, box_edge(axis, corner)}
                                  : Feature{FeatureKind::face, 2 * axis + ((corner >> axis) & 1)};
    }
  return table;
}();

inline Feature box_feature_at(int beyond, int corner) { return box_features[beyond][corner]; }

}  // namespace articula::collision
