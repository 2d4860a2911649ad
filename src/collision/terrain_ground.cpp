// The ground of a height field: the prisms below its triangles, and the walls below its rim.

#include "field_prism.hpp"
#include "support.hpp"
#include "terrain.hpp"

namespace articula::collision {
namespace {

// How far the shape is beyond the plane n.x = n.p, n a unit vector.
double beyond_plane(const Terrain& t, Vec3 n, Vec3 p) {
  const Shape& shape = t.pair.a;
  const Vec3 x = t.in_field * support(shape, transpose_times(t.in_field.R, -n)).x;
  return dot(n, x - p) - core_radius(shape);
}

// Not more than the distance from the ground below a triangle: what its faces say; stops at `enough`.
double separation(const Terrain& t, const FieldTriangle& f, double enough) {
  double most = t.lowest - top_of(f);
  if (most < enough) most = std::max(most, beyond_plane(t, normal_of(f), f.corner[0]));
  for (int i = 0; i < 3 && most < enough; ++i) {
    const Vec3 along = f.corner[(i + 1) % 3] - f.corner[i];
    most = std::max(most, beyond_plane(t, unit(Vec3(along[1], -along[0], 0)), f.corner[i]));
  }
  return most;
}

// So deep that the way out downwards is longer than that up.
double bottom_of(const Terrain& t, const FieldTriangle& f) {
  const double low = std::min({t.lowest, f.corner[0][2], f.corner[1][2], f.corner[2][2]});
  return low - 2 * std::max(0.0, top_of(f) - t.lowest) - 4 * bound(t.pair.a).radius;
}

// The distance from the ground below a triangle, if it is less than `limit`.
Distance ground_below(const Terrain& t, int triangle, double limit) {
  const FieldTriangle f = field_triangle(t.field, triangle);
  Distance d;
  d.beyond = true;
  if (separation(t, f, limit) >= limit) return d;
  d = distance_from_prism(t.pair, triangle, bottom_of(t, f), limit);
  d.beyond |= d.distance >= limit;
  return d;
}

template <class Visit>
void for_triangles(const Terrain& t, const Cells& cells, Visit&& visit) {
  for (int r = cells.row0; r <= cells.row1; ++r)
    for (int c = cells.column0; c <= cells.column1; ++c)
      for (int half = 0; half < 2; ++half) visit(t.triangle(r, c, half));
}

// Whether a feature is on the outside of the field: a wall from its rim straight down.
bool is_outer_wall(const HeightField& f, Feature feature) {
  if (feature.kind == FeatureKind::line) {
    const int corner = feature.index - field_wall_edge(f, 0);
    if (corner < 0) return false;
    const int row = corner / f.columns, column = corner % f.columns;
    return row == 0 || column == 0 || row == f.rows - 1 || column == f.columns - 1;
  }
  const int wall = feature.index - field_triangles(f);
  if (feature.kind != FeatureKind::face || wall < 0) return false;
  const int triangle = wall / 3, side = wall % 3, cell = triangle / 2;
  const int row = cell / (f.columns - 1), column = cell % (f.columns - 1);
  const bool upper = triangle % 2 == 1;
  if (side == 0) return row == (upper ? f.rows - 2 : 0);  // along a row
  return side == 2 && column == (upper ? f.columns - 2 : 0);
}

}  // namespace

Distance deepest_overlap(const Terrain& t, const Cells& cells) {
  Distance least;
  least.beyond = true;
  for_triangles(t, cells, [&](int triangle) {
    const Distance d = ground_below(t, triangle, least.beyond ? 0.0 : least.distance);
    if (!d.beyond) least = d;
  });
  return least;
}

void add_outer_walls(Terrain& t, const Cells& cells) {
  for_triangles(t, cells, [&](int triangle) {
    const int cell = triangle / 2, row = cell / (t.field.columns - 1), column = cell % (t.field.columns - 1);
    const bool inside = row > 0 && column > 0 && row < t.field.rows - 2 && column < t.field.columns - 2;
    if (inside) return;
    const Distance d = ground_below(t, triangle, t.found.margin);
    if (!d.beyond && is_outer_wall(t.field, d.feature_b)) t.found.add(contact_of(d));
  });
}

}  // namespace articula::collision
