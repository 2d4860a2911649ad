// The surface of a height field against a shape: points of the shape over its triangles, its ridges and its
// peaks.

#include "support.hpp"
#include "terrain.hpp"

namespace articula::collision {
namespace {

// ------------------------------------------------------------------------------------ points of the shape

// A rounded point against all triangles that its foot may be on; of those that its centre is below that
// through which the way out is shortest: walls and spikes are left on the side where they were entered.
void add_point(const Terrain& t, Vec3 centre, double radius, int index, TerrainContacts& found) {
  if (centre[2] - radius - found.margin > t.field.size[2]) return;
  const double above = height_above(t, centre);
  const double reach = radius + std::max(0.0, found.margin) + std::max(0.0, -above);
  const bool outside = std::abs(centre[0]) > t.field.size[0] || std::abs(centre[1]) > t.field.size[1];
  ContactPoint shortest;
  shortest.distance = -INFINITY;
  for_triangles(t, t.cells_around(centre, reach, reach), [&](int triangle) {
    const FieldTriangle f = field_triangle(t.field, triangle);
    const Vec3 n = normal_of(f), x = centre - n * radius;
    const double height = dot(n, x - f.corner[0]);
    const bool below = height + radius < 0;
    // The way out through a triangle is not longer than straight up.
    if (height > found.margin || height + radius < std::min(above, 0.0) - t.rounding) return;
    if ((outside && below) || !is_over(t, f, n, x)) return;
    const ContactPoint contact =
        t.contact(n, x, height, {FeatureKind::point, index}, {FeatureKind::face, triangle});
    if (!below)
      found.add(contact);
    else if (height > shortest.distance)
      shortest = contact;
  });
  if (shortest.distance > -INFINITY) found.add(shortest);
}

void add_points(const Terrain& t, TerrainContacts& found) {
  const Shape& shape = t.pair.a;
  const double radius = core_radius(shape);
  for (int i = 0; i < point_count(shape); ++i)
    add_point(t, t.in_field * point_of(shape, i), radius, i, found);
}

// How far a point below the ground is from the nearest triangle that it could leave through, if that is less
// than `limit`.
double way_out(const Terrain& t, Vec3 x, double limit) {
  for_triangles(t, t.cells_around(x, limit, limit), [&](int triangle) {
    const FieldTriangle f = field_triangle(t.field, triangle);
    const Vec3 n = normal_of(f);
    const double depth = -dot(n, x - f.corner[0]);
    if (depth >= 0 && depth < limit && is_over(t, f, n, x)) limit = depth;
  });
  return limit;
}

// Whether the ground has slopes of more than 45 degrees: only there ways out through different triangles are
// far from each other.
bool is_steep(const Terrain& t, const Cells& cells) {
  bool steep = false;
  for_triangles(t, cells, [&](int triangle) {
    steep = steep || normal_of(field_triangle(t.field, triangle))[2] < 0.7;
  });
  return steep;
}

// Round shapes: their lowest points as seen from each triangle below.
void add_round(const Terrain& t, const Cells& cells, TerrainContacts& found) {
  const bool steep = is_steep(t, cells);
  for_triangles(t, cells, [&](int triangle) {
    const FieldTriangle f = field_triangle(t.field, triangle);
    if (top_of(f) + found.margin < t.lowest) return;
    const Vec3 n = normal_of(f);
    ContactPoint points[max_contact_points];
    const int count = round_over_plane(t, n, f.corner[0], found.margin, points);
    for (int i = 0; i < count; ++i) {
      const double distance = points[i].distance;
      const Vec3 x = points[i].position + n * (0.5 * distance);
      // The way out through a triangle is not longer than another one.
      if (!is_over(t, f, n, x) || distance < std::min(height_above(t, x), 0.0) - t.rounding) continue;
      if (steep && distance < 0 && -distance > way_out(t, x, -distance) + t.rounding) continue;
      found.add(t.contact(n, x, distance, points[i].feature_b, {FeatureKind::face, triangle}));
    }
  });
}

// ---------------------------------------------------------------------------- ridges and peaks below it

// The triangles beside a grid edge (features.hpp); at the rim of the field there is no second one: -1.
void beside(const HeightField& f, int row, int column, int direction, int& first, int& second) {
  const int cells = f.columns - 1;
  const auto triangle = [&](int r, int c, int half) { return 2 * (r * cells + c) + half; };
  if (direction == 2) {
    first = triangle(row, column, 0), second = triangle(row, column, 1);
    return;
  }
  const int place = direction == 0 ? row : column, last = (direction == 0 ? f.rows : f.columns) - 1;
  const int behind = direction == 0 ? triangle(row - 1, column, 1) : triangle(row, column - 1, 1);
  first = place == last ? behind : triangle(row, column, 0);
  second = place == 0 || place == last ? -1 : behind;
}

// A ridge is a segment without thickness; the contact counts if its normal lies between the slopes'. Beyond
// the rim the ground falls off straight down.
void add_ridge(const Terrain& t, int row, int column, int direction, TerrainContacts& found) {
  int first = 0, second = 0;
  beside(t.field, row, column, direction, first, second);
  const int index = field_edge(t.field, row, column, direction);
  const Segment s = line_of(t.pair.b, index);
  if (std::max(s.from[2], s.from[2] + s.along[2]) + found.margin < t.lowest) return;
  const FieldTriangle f1 = field_triangle(t.field, first);
  const Vec3 e = unit(s.along), middle = s.from + s.along * 0.5;
  const Vec3 into1 = f1.corner[0] + f1.corner[1] + f1.corner[2] - middle * 3;
  const Vec3 n1 = normal_of(f1);
  Vec3 n2 = second < 0 ? unit(cross(e, Vec3(0, 0, 1))) : normal_of(field_triangle(t.field, second));
  if (second < 0 && dot(n2, into1) > 0) n2 = -n2;
  // Down either slope, away from the edge.
  Vec3 down1 = cross(n1, e), down2 = cross(n2, e);
  if (dot(down1, into1) < 0)
    down1 = -down1;
  else
    down2 = -down2;
  if (!(dot(n2, down1) < -1e-9)) return;  // a valley, or flat
  const Bound around = bound(t.pair.a);
  const Vec3 to = t.in_field * around.centre - middle;
  if (norm(to) > around.radius + 0.5 * norm(s.along) + std::max(0.0, found.margin)) return;
  const Vec3 across = any_across(e);
  const Placement at = t.pair.at_b * Placement{{across, cross(e, across), e}, middle};
  const Shape segment = Shape::capsule(0.0, 0.5 * norm(s.along));
  Distance d = distance(t.pair.a, t.pair.at_a, segment, at, found.margin);
  if (d.beyond || d.feature_b.kind != FeatureKind::line) return;
  const Vec3 up = -transpose_times(t.pair.at_b.R, d.normal);
  const bool between = dot(up, down1) <= 1e-9 && dot(up, down2) <= 1e-9;
  if (dot(up, n1 + n2) <= 0 || !between) return;
  d.feature_b = {FeatureKind::line, index};
  found.add(contact_of(d));
}

// A corner of the grid, where it is a peak as seen along the normal: no neighbour is higher.
void add_peak(const Terrain& t, int row, int column, TerrainContacts& found) {
  const HeightField& f = t.field;
  const Vec3 corner = field_corner(f, row, column);
  if (corner[2] + found.margin < t.lowest) return;
  const Placement at{t.pair.at_b.R, t.pair.at_b * corner};
  Distance d = distance(t.pair.a, t.pair.at_a, Shape::sphere(0.0), at, found.margin);
  if (d.beyond) return;
  const Vec3 up = -transpose_times(t.pair.at_b.R, d.normal);
  if (up[2] <= 0) return;
  constexpr int steps[6][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, -1}, {-1, 1}};
  for (const auto& step : steps) {
    const int r = row + step[0], k = column + step[1];
    if (r < 0 || k < 0 || r >= f.rows || k >= f.columns) continue;
    const Vec3 edge = field_corner(f, r, k) - corner;
    if (dot(up, edge) > 1e-9 * norm(edge)) return;
  }
  d.feature_b = {FeatureKind::point, row * f.columns + column};
  found.add(contact_of(d));
}

void add_ridges_and_peaks(const Terrain& t, const Cells& cells, TerrainContacts& found) {
  for (int r = cells.row0; r <= cells.row1 + 1; ++r)
    for (int c = cells.column0; c <= cells.column1 + 1; ++c) {
      add_peak(t, r, c, found);
      for (int direction = 0; direction < 3; ++direction) {
        const bool leaves =
            (direction != 1 && c == t.field.columns - 1) || (direction != 0 && r == t.field.rows - 1);
        if (!leaves) add_ridge(t, r, c, direction, found);
      }
    }
}

}  // namespace

double height_above(const Terrain& t, Vec3 x) {
  const Cells c = t.cells_around(x, 0, 0);
  const double u = clamp((x[0] + t.field.size[0]) / t.dx - c.column0, 0, 1);
  const double v = clamp((x[1] + t.field.size[1]) / t.dy - c.row0, 0, 1);
  const FieldTriangle f = field_triangle(t.field, t.triangle(c.row0, c.column0, u + v > 1 ? 1 : 0));
  const bool upper = u + v > 1;
  const double p = upper ? 1 - u : u, q = upper ? 1 - v : v;
  return x[2] -
         (f.corner[0][2] + p * (f.corner[1][2] - f.corner[0][2]) + q * (f.corner[2][2] - f.corner[0][2]));
}

int round_over_plane(const Terrain& t, Vec3 n, Vec3 p, double margin, ContactPoint* points) {
  const Shape &shape = t.pair.a, plane = Shape::plane();
  const Vec3 across = any_across(n);
  const Placement at_plane{{across, cross(n, across), n}, p};
  const PairArguments on_plane{plane, at_plane, shape, t.in_field, margin};
  return shape.type == ShapeType::ellipsoid ? plane_ellipsoid_contacts(on_plane, points)
                                            : plane_cylinder_contacts(on_plane, points);
}

void add_surface(const Terrain& t, const Cells& cells, TerrainContacts& found) {
  if (is_curved(t.pair.a))
    add_round(t, cells, found);
  else
    add_points(t, found);
  add_ridges_and_peaks(t, cells, found);
}

}  // namespace articula::collision
