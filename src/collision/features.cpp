#include "features.hpp"

#include <bit>
#include <cmath>

#include "support.hpp"

namespace articula::collision {

namespace {

// 16 points a turn apart by 22.5 degrees, on either rim.
Vec3 rim_point(Vec3 size, int index) {
  constexpr double c1 = 0.92387953251128675613, c2 = 0.70710678118654752440, c3 = 0.38268343236508977173;
  constexpr double cosine[20] = {1,   c1,  c2, c3, 0,  -c3, -c2, -c1, -1, -c1,
                                 -c2, -c3, 0,  c3, c2, c1,  1,   c1,  c2, c3};
  const int k = index % rim_points;
  return {size[0] * cosine[k], size[0] * cosine[(k + 12) % 16], index >= rim_points ? size[1] : -size[1]};
}

FacePlane field_wall_plane(const HeightField& field, int triangle, int side) {
  const FieldTriangle t = field_triangle(field, triangle);
  const Vec3 along = t.corner[(side + 1) % 3] - t.corner[side];
  return {unit(Vec3(along[1], -along[0], 0)), t.corner[side]};
}

}  // namespace

double axis_place(int index) {
  if (index < 2) return index ? 1.0 : -1.0;
  return -1.0 + (index - 1) * (2.0 / axis_parts);
}

int nearest_axis_point(double place) {
  const int part = static_cast<int>(std::lround(0.5 * axis_parts * (clamp(place, -1.0, 1.0) + 1.0)));
  return part == 0 ? 0 : part == axis_parts ? 1 : 1 + part;
}

Vec3 point_of(const Shape& shape, int index) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::capsule: return {0, 0, axis_place(index) * s[1]};
    case ShapeType::box: return box_corner(s, index);
    case ShapeType::mesh: return shape.hull->vertices[index];
    case ShapeType::height_field:
      return field_corner(*shape.field, index / shape.field->columns, index % shape.field->columns);
    case ShapeType::cylinder: return rim_point(s, index);
    default: return {};
  }
}

Segment line_of(const Shape& shape, int index) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::cylinder:
      if (index > 0) {
        const int cap = (index - 1) / rim_points, k = (index - 1) % rim_points;
        const Vec3 from = rim_point(s, cap * rim_points + k);
        return {from, rim_point(s, cap * rim_points + (k + 1) % rim_points) - from};
      }
      return {Vec3(0, 0, -s[1]), Vec3(0, 0, 2 * s[1])};
    case ShapeType::capsule: return {Vec3(0, 0, -s[1]), Vec3(0, 0, 2 * s[1])};
    case ShapeType::height_field: {
      const HeightField& f = *shape.field;
      if (index >= field_wall_edge(f, 0)) {
        const int corner = index - field_wall_edge(f, 0);
        return {field_corner(f, corner / f.columns, corner % f.columns), Vec3(0, 0, -1)};
      }
      const int corner = index / 3, row = corner / f.columns, column = corner % f.columns, to = index % 3;
      const Vec3 from = field_corner(f, row, to == 2 ? column + 1 : column);
      return {from, field_corner(f, to == 0 ? row : row + 1, to == 0 ? column + 1 : column) - from};
    }
    case ShapeType::mesh: {
      const Vec3 from = shape.hull->vertices[shape.hull->edge_start[index]];
      return {from, shape.hull->vertices[shape.hull->edge_end[index]] - from};
    }
    default: {
      const int axis = index / 4, j = (axis + 1) % 3, k = (axis + 2) % 3;
      const int corner = ((index & 1) << j) | (((index >> 1) & 1) << k);
      return {box_corner(s, corner), elementwise(axis_vector(axis), s) * 2.0};
    }
  }
}

FacePlane face_of(const Shape& shape, int index) {
  switch (shape.type) {
    case ShapeType::mesh:
      return {shape.hull->face_normal[index],
              shape.hull->face_normal[index] * shape.hull->face_offset[index]};
    case ShapeType::box: {
      const Vec3 n = axis_vector(index / 2) * (index & 1 ? 1.0 : -1.0);
      return {n, elementwise(n, shape.size)};
    }
    case ShapeType::cylinder: {
      const Vec3 n(0, 0, index ? 1.0 : -1.0);
      return {n, n * shape.size[1]};
    }
    case ShapeType::height_field: {
      const int wall = index - field_triangles(*shape.field);
      if (wall >= 0) return field_wall_plane(*shape.field, wall / 3, wall % 3);
      const FieldTriangle t = field_triangle(*shape.field, index);
      return {unit(cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0])), t.corner[0]};
    }
    default: return {Vec3(0, 0, 1), Vec3()};
  }
}

Vec3 field_corner(const HeightField& f, int row, int column) {
  return {-f.size[0] + column * (2 * f.size[0] / (f.columns - 1)),
          -f.size[1] + row * (2 * f.size[1] / (f.rows - 1)),
          f.size[2] * f.elevation[static_cast<std::size_t>(row * f.columns + column)]};
}

FieldTriangle field_triangle(const HeightField& f, int index) {
  const int cell = index / 2, r = cell / (f.columns - 1), c = cell % (f.columns - 1);
  if (index % 2 == 0) return {{field_corner(f, r, c), field_corner(f, r, c + 1), field_corner(f, r + 1, c)}};
  return {{field_corner(f, r + 1, c + 1), field_corner(f, r + 1, c), field_corner(f, r, c + 1)}};
}

int nearest_face(const Shape& shape, Vec3 n, int vertex) {
  constexpr double noise = 1e-9;  // of faces equally near but for rounding the first
  switch (shape.type) {
    case ShapeType::plane: return 0;
    case ShapeType::cylinder: return n[2] > -noise ? 1 : 0;
    case ShapeType::box: {
      const Vec3 m = absolute(n);
      const int axis = m[0] >= m[1] - noise && m[0] >= m[2] - noise ? 0 : m[1] >= m[2] - noise ? 1 : 2;
      return 2 * axis + (n[axis] > 0 ? 1 : 0);
    }
    case ShapeType::mesh: {
      const Hull& hull = *shape.hull;
      int best = -1;
      double alignment = -2;
      for (int i = hull.around_begin[vertex]; i < hull.around_begin[vertex + 1]; ++i) {
        const double value = dot(n, hull.face_normal[hull.around[i]]);
        if (value > alignment + noise) {
          alignment = value;
          best = hull.around[i];
        }
      }
      return best;
    }
    default: return -1;
  }
}

namespace {

bool box_feature_holds(Feature f, int corner) {
  if (f.kind == FeatureKind::point) return f.index == corner;
  if (f.kind == FeatureKind::line) return box_edge(f.index / 4, corner) == f.index;
  return ((corner >> (f.index / 2)) & 1) == (f.index & 1);
}

bool mesh_feature_holds(const Hull& hull, Feature f, int vertex) {
  if (f.kind == FeatureKind::point) return f.index == vertex;
  if (f.kind == FeatureKind::line)
    return hull.edge_start[f.index] == vertex || hull.edge_end[f.index] == vertex;
  for (int i = hull.triangle_begin[f.index]; i < hull.triangle_begin[f.index + 1]; ++i)
    for (const int v : hull.triangle[i])
      if (v == vertex) return true;
  return false;
}

}  // namespace

bool holds_support(const Shape& shape, Feature f, int vertex, Vec3 n) {
  switch (shape.type) {
    case ShapeType::box: return box_feature_holds(f, vertex);
    case ShapeType::mesh: return mesh_feature_holds(*shape.hull, f, vertex);
    case ShapeType::capsule: return f.kind == FeatureKind::line || f.index == vertex;
    case ShapeType::cylinder: return f.kind == FeatureKind::line || (n[2] > 0) == (f.index == 1);
    default: return true;
  }
}

int hull_edge(const Hull& hull, int from, int to) {
  for (int e = hull.edge_begin[from]; e < hull.edge_begin[from + 1]; ++e)
    if (hull.edge_end[e] == to) return e;
  return -1;
}

EdgesAt::EdgesAt(const Shape& shape, int vertex) {
  if (shape.type == ShapeType::box) {
    for (int axis = 0; axis < 3; ++axis) list[count++] = box_edge(axis, vertex);
    return;
  }
  const Hull& hull = *shape.hull;
  for (int e = hull.edge_begin[vertex]; e < hull.edge_begin[vertex + 1] && count < room; ++e) {
    const int to = hull.edge_end[e];
    if (hull.edge_bends[e]) list[count++] = to > vertex ? e : hull_edge(hull, to, vertex);
  }
}

namespace {

Feature spanned_box(const int* vertices, int count, Vec3 n) {
  int differing = 0;
  for (int i = 1; i < count; ++i) differing |= vertices[i] ^ vertices[0];
  if (differing == 0) return {FeatureKind::point, vertices[0]};
  if (std::popcount(static_cast<unsigned>(differing)) == 1)
    return {FeatureKind::line, box_edge(std::countr_zero(static_cast<unsigned>(differing)), vertices[0])};
  if (std::popcount(static_cast<unsigned>(differing)) == 2) {
    const int axis = std::countr_zero(static_cast<unsigned>(7 ^ differing));
    return {FeatureKind::face, 2 * axis + ((vertices[0] >> axis) & 1)};
  }
  return {FeatureKind::face, nearest_face(Shape::box(1, 1, 1), n, 0)};
}

Feature spanned_mesh(const Shape& shape, const int* vertices, int count, Vec3 n) {
  const Hull& hull = *shape.hull;
  int low = vertices[0], high = vertices[0], distinct = 1;
  for (int i = 1; i < count; ++i) {
    bool seen = false;
    for (int j = 0; j < i; ++j) seen |= vertices[j] == vertices[i];
    if (seen) continue;
    ++distinct;
    low = vertices[i] < low ? vertices[i] : low;
    high = vertices[i] > high ? vertices[i] : high;
  }
  if (distinct == 1) return {FeatureKind::point, low};
  if (distinct == 2) {
    const int edge = hull_edge(hull, low, high);
    if (edge >= 0 && hull.edge_bends[edge]) return {FeatureKind::line, edge};
  }
  return {FeatureKind::face, nearest_face(shape, n, vertices[0])};
}

}  // namespace

Feature spanned_feature(const Shape& shape, const int* vertices, int count, Vec3 n) {
  switch (shape.type) {
    case ShapeType::box: return spanned_box(vertices, count, n);
    case ShapeType::mesh: return spanned_mesh(shape, vertices, count, n);
    case ShapeType::capsule:
      for (int i = 1; i < count; ++i)
        if (vertices[i] != vertices[0]) return {FeatureKind::line, 0};
      return {FeatureKind::point, vertices[0]};
    case ShapeType::ellipsoid: return {FeatureKind::surface, 0};
    default: return {FeatureKind::point, 0};
  }
}

}  // namespace articula::collision
