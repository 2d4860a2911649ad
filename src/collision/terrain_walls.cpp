// The outer walls of a height field: from its rim the ground goes straight down.

#include "terrain.hpp"

namespace articula::collision {
namespace {

// One side of the field: across an axis, on the side of its sign.
struct Wall {
  const Terrain& t;
  int axis;
  double sign;

  Vec3 outward() const { return with_lane(Vec3(), axis, sign); }
  Vec3 point() const { return outward() * t.field.size[static_cast<std::size_t>(axis)]; }

  // The wall below a side of a triangle, if the point x in its plane is not beside or above it; else -1.
  int face_at(Vec3 x) const {
    const HeightField& f = t.field;
    const int along = 1 - axis, count = along == 0 ? f.columns : f.rows;
    const double half = f.size[static_cast<std::size_t>(along)];
    if (std::abs(x[along]) > half + t.rounding) return -1;
    const double place = clamp((x[along] + half) / (2 * half) * (count - 1), 0, count - 1);
    const int cell = std::min(static_cast<int>(place), count - 2);
    const int last = (axis == 0 ? f.columns : f.rows) - 2, across = sign < 0 ? 0 : last;
    const int row = axis == 0 ? cell : across, column = axis == 0 ? across : cell;
    const int triangle = t.triangle(row, column, sign < 0 ? 0 : 1), side = axis == 0 ? 2 : 0;
    const FieldTriangle corners = field_triangle(f, triangle);
    const Vec3 from = corners.corner[side], to = corners.corner[(side + 1) % 3];
    const double top = from[2] + (x[along] - from[along]) / (to[along] - from[along]) * (to[2] - from[2]);
    return x[2] <= top + t.rounding ? field_wall(f, triangle, side) : -1;
  }

  // A point of the shape, x on its surface and `core` in its core, against the wall; unless the way up is
  // shorter.
  void add(Vec3 x, Vec3 core, Feature feature, TerrainContacts& found) const {
    const Vec3 n = outward(), p = point();
    const double distance = dot(n, x - p), inside = dot(n, core - p);
    if (distance > found.margin || (inside < 0 && inside < height_above(t, core) - t.rounding)) return;
    const int face = face_at(x - n * distance);
    if (face >= 0) found.add(t.contact(n, x, distance, feature, {FeatureKind::face, face}));
  }
};

void add_wall_points(const Wall& wall, TerrainContacts& found) {
  const Shape& shape = wall.t.pair.a;
  const double radius = core_radius(shape);
  for (int i = 0; i < point_count(shape); ++i) {
    const Vec3 centre = wall.t.in_field * point_of(shape, i);
    wall.add(centre - wall.outward() * radius, centre, {FeatureKind::point, i}, found);
  }
}

void add_round_points(const Wall& wall, TerrainContacts& found) {
  ContactPoint points[max_contact_points];
  const int count = round_over_plane(wall.t, wall.outward(), wall.point(), found.margin, points);
  for (int i = 0; i < count; ++i) {
    const Vec3 x = points[i].position + wall.outward() * (0.5 * points[i].distance);
    wall.add(x, x, points[i].feature_b, found);
  }
}

}  // namespace

void add_outer_walls(const Terrain& t, TerrainContacts& found) {
  for (const int axis : {0, 1})
    for (const double sign : {-1.0, 1.0}) {
      const Wall wall{t, axis, sign};
      if (beyond_plane(t, wall.outward(), wall.point()) > found.margin) continue;
      if (is_curved(t.pair.a))
        add_round_points(wall, found);
      else
        add_wall_points(wall, found);
    }
}

double way_beside(const Terrain& t) {
  double least = INFINITY;
  for (const int axis : {0, 1})
    for (const double sign : {-1.0, 1.0}) {
      const Wall wall{t, axis, sign};
      least = std::min(least, -beyond_plane(t, wall.outward(), wall.point()));
    }
  return least;
}

}  // namespace articula::collision
