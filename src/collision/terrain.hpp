#pragma once
// A shape over a height field, in the field's frame, and the contacts that are found: what the parts of the
// terrain's narrow phase share.

#include <algorithm>
#include <cmath>

#include "features.hpp"
#include "pairs.hpp"
#include "vector.hpp"

namespace articula::collision {

// Takes contacts as they are found: all of them, those that carry most where there is no more room, or only
// the nearest.
struct Collector {
  double margin;
  ContactPoint* points;
  int room, count = 0;
  double floor = -INFINITY;  // nothing is deeper

  void add(const ContactPoint& c) {
    if (c.distance > margin || c.distance < floor) return;
    if (room == 1) {
      points[0] = c;
      count = 1;
      margin = c.distance;
      return;
    }
    if (count == room) count = reduce(points, count);
    points[count++] = c;
  }
};

struct Cells {
  int row0, row1, column0, column1;
};

struct Terrain {
  const PairArguments& pair;  // a: the shape, b: the field
  const HeightField& field;
  Placement in_field;  // of the shape
  Collector& found;
  double dx, dy;
  double lowest;  // of the shape, in the field's frame

  Cells cells_around(Vec3 x, double reach_x, double reach_y) const {
    const auto cell = [](double along, double step, int count) {
      return static_cast<int>(clamp(std::floor(along / step), 0, count - 2));
    };
    const double left = x[0] + field.size[0], low = x[1] + field.size[1];
    return {cell(low - reach_y, dy, field.rows), cell(low + reach_y, dy, field.rows),
            cell(left - reach_x, dx, field.columns), cell(left + reach_x, dx, field.columns)};
  }
  int triangle(int row, int column, int half) const {
    return 2 * (row * (field.columns - 1) + column) + half;
  }
  void add(Vec3 n, Vec3 x, double height, Feature of_shape, Feature of_field) {
    ContactPoint c;
    c.normal = -(pair.at_b.R * n);
    c.distance = height;
    c.position = pair.at_b * (x - n * (0.5 * height));
    c.feature_a = of_shape;
    c.feature_b = of_field;
    found.add(c);
  }
};

inline Vec3 normal_of(const FieldTriangle& t) {
  return unit(cross(t.corner[1] - t.corner[0], t.corner[2] - t.corner[0]));
}

inline bool is_over(const FieldTriangle& t, Vec3 n, Vec3 x) {
  for (int i = 0; i < 3; ++i)
    if (dot(cross(t.corner[(i + 1) % 3] - t.corner[i], x - t.corner[i]), n) < 0) return false;
  return true;
}

inline double top_of(const FieldTriangle& t) {
  return std::max({t.corner[0][2], t.corner[1][2], t.corner[2][2]});
}

// Points of the shape over the triangles, and the ridges and peaks under it (terrain_surface.cpp).
void add_surface(Terrain& t, const Cells& cells);
// What is beside the field and not above its rim meets its walls (terrain_ground.cpp).
void add_outer_walls(Terrain& t, const Cells& cells);
// The deepest overlap with what lies below the triangles; `beyond` if there is none.
Distance deepest_overlap(const Terrain& t, const Cells& cells);

}  // namespace articula::collision
