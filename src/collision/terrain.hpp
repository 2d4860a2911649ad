#pragma once
// A shape over a height field, in the field's frame, and the contacts that are found: what the parts of the
// terrain's narrow phase share.

#include <algorithm>
#include <cmath>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {

// Takes contacts as they are found, each place and direction once; where there is no more room those that
// carry most are kept.
struct TerrainContacts {
  static constexpr int room = 64;
  double margin;
  double same_place;  // contacts of one direction that are this close to each other are one
  Uncleared<ContactPoint, room> buffer;
  int count = 0;

  TerrainContacts(double limit, double close) : margin(limit), same_place(close) {}

  ContactPoint* points() { return buffer.data(); }
  // Of two contacts with the same features, which are its identity, the nearer one stays.
  bool knows(const ContactPoint& c) {
    for (int i = 0; i < count; ++i) {
      ContactPoint& p = points()[i];
      if (p.feature_a == c.feature_a && p.feature_b == c.feature_b) {
        if (c.distance < p.distance) p = c;
        return true;
      }
      if (squared_norm(p.position - c.position) < same_place * same_place &&
          dot(p.normal, c.normal) > 1 - 1e-9)
        return true;
    }
    return false;
  }
  void add(const ContactPoint& c) {
    if (c.distance > margin || knows(c)) return;
    if (count == room) count = reduce(points(), count, usual_contact_points);
    points()[count++] = c;
  }
  template <class Condition>
  void remove_if(Condition&& condition) {
    count = static_cast<int>(std::remove_if(points(), points() + count, condition) - points());
  }
  double least() {
    double distance = INFINITY;
    for (int i = 0; i < count; ++i) distance = std::min(distance, points()[i].distance);
    return distance;
  }
};

struct Cells {
  int row0, row1, column0, column1;
};

// A shape over a field, in the field's frame.
struct Terrain {
  const PairArguments& pair;  // a: the shape, b: the field
  const HeightField& field;
  Placement in_field;     // of the shape
  Vec3 centre, half;      // of the shape's bounding box
  double dx, dy;          // of a cell
  double lowest;          // of the bounding box
  double size, rounding;  // of the shape; of positions in the field, in metres

  explicit Terrain(const PairArguments& arguments);
  Cells cells_around(Vec3 x, double reach_x, double reach_y) const {
    const auto cell = [](double along, double step, int count) {
      return static_cast<int>(clamp(std::floor(along / step), 0, count - 2));
    };
    const double left = x[0] + field.size[0], low = x[1] + field.size[1];
    return {cell(low - reach_y, dy, field.rows), cell(low + reach_y, dy, field.rows),
            cell(left - reach_x, dx, field.columns), cell(left + reach_x, dx, field.columns)};
  }
  int triangle(int row, int column, int upper) const {
    return 2 * (row * (field.columns - 1) + column) + upper;
  }
  // Below the point x of the shape, `height` along n.
  ContactPoint contact(Vec3 n, Vec3 x, double height, Feature of_shape, Feature of_field) const {
    ContactPoint c;
    c.normal = -(pair.at_b.R * n);
    c.distance = height;
    c.position = pair.at_b * (x - n * (0.5 * height));
    c.feature_a = of_shape;
    c.feature_b = of_field;
    return c;
  }
};

// Of shapes whose core has corners.
inline int point_count(const Shape& shape) {
  return shape.type == ShapeType::sphere    ? 1
         : shape.type == ShapeType::capsule ? 2
         : shape.type == ShapeType::box     ? 8
                                            : shape.hull->vertex_count();
}

inline Vec3 normal_of(const FieldTriangle& t) {
  return unit(cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]));
}

// Whether x, seen along n, is over a triangle. Seams belong to both of their triangles.
inline bool is_over(const Terrain& terrain, const FieldTriangle& t, Vec3 n, Vec3 x) {
  for (int i = 0; i < 3; ++i) {
    const Vec3 side = t.corner[(i + 1) % 3] - t.corner[i];
    if (dot(cross(side, x - t.corner[i]), n) < -terrain.rounding * norm(side)) return false;
  }
  return true;
}

inline double top_of(const FieldTriangle& t) {
  return std::max({t.corner[0][2], t.corner[1][2], t.corner[2][2]});
}

template <class Visit>
void for_triangles(const Terrain& t, const Cells& cells, Visit&& visit) {
  for (int r = cells.row0; r <= cells.row1; ++r)
    for (int c = cells.column0; c <= cells.column1; ++c)
      for (int upper = 0; upper < 2; ++upper) visit(t.triangle(r, c, upper));
}

// How far the shape is beyond the plane n.x = n.p, n a unit vector.
inline double beyond_plane(const Terrain& t, Vec3 n, Vec3 p) {
  const Shape& shape = t.pair.a;
  const Vec3 x = t.in_field * support(shape, transpose_times(t.in_field.R, -n)).x;
  return dot(n, x - p) - core_radius(shape);
}

// Contacts of a cylinder or ellipsoid with the plane n.x = n.p, in the field's frame, which is A of them.
int round_over_plane(const Terrain& t, Vec3 n, Vec3 p, double margin, ContactPoint* points);
// How far x is above the field, straight up; negative: below.
double height_above(const Terrain& t, Vec3 x);

// Points of the shape over the triangles, and the ridges and peaks under it (terrain_surface.cpp).
void add_surface(const Terrain& t, const Cells& cells, TerrainContacts& found);
// What is beside the field and not above its rim meets its walls (terrain_walls.cpp).
void add_outer_walls(const Terrain& t, TerrainContacts& found);
// How far the shape would have to go to be beside the field: out through the nearest of the outer walls.
double way_beside(const Terrain& t);
// The nearest of what lies below the triangles, or in overlap the deepest, if it is less than `limit`; else
// `beyond`.
Distance nearest_ground(const Terrain& t, double limit);

}  // namespace articula::collision
