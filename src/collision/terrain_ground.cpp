// The ground of a height field: the prisms below its triangles.

#include "field_prism.hpp"
#include "support.hpp"
#include "terrain.hpp"

namespace articula::collision {
namespace {

// Directions that parted the shape from ground close by part it from the next triangle, too.
struct Hints {
  static constexpr int room = 4;
  Vec3 up[room];
  double lowest[room];  // of the shape along each
  int count = 0, next = 0;

  void add(const Terrain& t, Vec3 n) {
    if (n[2] < 0) return;
    up[next] = n;
    lowest[next] = beyond_plane(t, n, Vec3());
    next = (next + 1) % room;
    count = std::min(count + 1, room);
  }
};

// Not more than the distance from the ground below a triangle: what its faces and the hints say; stops at
// `enough`.
double separation(const Terrain& t, const FieldTriangle& f, const Hints& hints, double enough) {
  double most = t.lowest - top_of(f);
  for (int i = 0; i < hints.count && most < enough; ++i) {
    const Vec3 n = hints.up[i];
    const double top = std::max({dot(n, f.corner[0]), dot(n, f.corner[1]), dot(n, f.corner[2])});
    most = std::max(most, hints.lowest[i] - top);
  }
  if (most < enough) most = std::max(most, beyond_plane(t, normal_of(f), f.corner[0]));
  for (int i = 0; i < 3 && most < enough; ++i) {
    const Vec3 along = f.corner[(i + 1) % 3] - f.corner[i];
    most = std::max(most, beyond_plane(t, unit(Vec3(along[1], -along[0], 0)), f.corner[i]));
  }
  return most;
}

// So deep that the way out downwards is longer than that up.
double bottom_of(const Terrain& t, const FieldTriangle& f) {
  const double low = std::min({f.corner[0][2], f.corner[1][2], f.corner[2][2]});
  return std::min(low, t.lowest - std::max(0.0, top_of(f) - t.lowest)) - 0.1 * t.size;
}

// Not more than the distance from anything in a cell: that of the bounding boxes; -1 if they overlap.
double box_gap(const Terrain& t, int row, int column, double top) {
  const double x = -t.field.size[0] + column * t.dx, y = -t.field.size[1] + row * t.dy;
  const double gap[3] = {std::max(x - t.centre[0], t.centre[0] - x - t.dx) - t.half[0],
                         std::max(y - t.centre[1], t.centre[1] - y - t.dy) - t.half[1], t.lowest - top};
  double squared = 0.0;
  for (const double g : gap) squared += g > 0 ? g * g : 0.0;
  return squared > 0 ? std::sqrt(squared) - t.rounding : -1.0;
}

double top_of_cell(const HeightField& f, int row, int column) {
  const auto elevation = [&](int r, int c) {
    return f.elevation[static_cast<std::size_t>(r * f.columns + c)];
  };
  return f.size[2] * std::max({elevation(row, column), elevation(row, column + 1), elevation(row + 1, column),
                               elevation(row + 1, column + 1)});
}

// The distance from the ground below a triangle, if it is less than `limit`.
Distance ground_below(const Terrain& t, int triangle, Hints& hints, double limit) {
  const FieldTriangle f = field_triangle(t.field, triangle);
  Distance d;
  d.beyond = true;
  if (separation(t, f, hints, limit) >= limit) return d;
  d = distance_from_prism(t.pair, triangle, bottom_of(t, f), limit);
  d.beyond |= d.distance >= limit;
  if (!d.beyond) hints.add(t, -transpose_times(t.pair.at_b.R, d.normal));
  return d;
}

// Triangles of cells that are not farther than `limit`, which may shrink meanwhile.
template <class Visit>
void for_near_triangles(const Terrain& t, const Cells& cells, const double& limit, Visit&& visit) {
  for (int r = cells.row0; r <= cells.row1; ++r)
    for (int c = cells.column0; c <= cells.column1; ++c) {
      const double gap = box_gap(t, r, c, top_of_cell(t.field, r, c));
      if (gap >= 0 && gap >= limit) continue;
      for (int half = 0; half < 2; ++half) visit(t.triangle(r, c, half));
    }
}

}  // namespace

Distance nearest_ground(const Terrain& t, double limit) {
  Distance least;
  least.beyond = true;
  Hints hints;
  const auto visit = [&](int triangle) {
    const Distance d = ground_below(t, triangle, hints, limit);
    if (d.beyond) return;
    least = d;
    limit = d.distance;
  };
  // What lies below its middle first: it tells how far to look.
  const Cells below = t.cells_around(t.centre, 0, 0);
  for (int half = 0; half < 2; ++half) visit(t.triangle(below.row0, below.column0, half));
  const double reach = std::max(0.0, limit);
  for_near_triangles(t, t.cells_around(t.centre, t.half[0] + reach, t.half[1] + reach), limit, visit);
  return least;
}

}  // namespace articula::collision
