// Contacts with and distance from a height field.

#include "terrain.hpp"

namespace articula::collision {

Terrain::Terrain(const PairArguments& arguments)
    : pair(arguments),
      field(*arguments.b.field),
      dx(2 * field.size[0] / (field.columns - 1)),
      dy(2 * field.size[1] / (field.rows - 1)) {
  const Mat3& R = pair.at_b.R;
  in_field = {{transpose_times(R, pair.at_a.R.x), transpose_times(R, pair.at_a.R.y),
               transpose_times(R, pair.at_a.R.z)},
              transpose_times(R, pair.at_a.p - pair.at_b.p)};
  const Bound around = bound(pair.a);
  const Mat3& Q = in_field.R;
  centre = in_field * around.centre;
  half = Mat3{absolute(Q.x), absolute(Q.y), absolute(Q.z)} * around.half;
  lowest = centre[2] - half[2];
  size = size_of(pair.a);
  rounding = 64 * 2.2e-16 * (norm(centre) + size + field.size[0] + field.size[1] + field.size[2]);
}

namespace {

bool has_cells(const HeightField& f) { return f.rows > 1 && f.columns > 1 && f.size[0] > 0 && f.size[1] > 0; }

// Contacts less deep than the way out beside the field, and of what overlaps nothing only those apart: beside
// walls and sharp ridges a point may be below a triangle and yet outside.
void leave_out_ways_through(const Terrain& t, bool overlaps, bool hangs_over, TerrainContacts& found) {
  const double deepest = !overlaps ? 1e-10 * t.size : hangs_over ? way_beside(t) : INFINITY;
  found.remove_if([&](const ContactPoint& c) { return -c.distance > deepest + t.rounding; });
}

}  // namespace

// What the surface says, and the nearest or deepest of the prisms below it where that says otherwise. Of
// contacts it may be less deep: triangles beside each other do not let the shape out between them.
int height_field_contacts(const PairArguments& pair, ContactPoint* out) {
  if (!has_cells(*pair.b.field)) return 0;
  const Terrain t(pair);
  TerrainContacts found{pair.margin, 1e-9 * t.size + t.rounding};
  const double margin = std::max(0.0, pair.margin);
  bool hangs_over = false;
  for (int i = 0; i < 2; ++i) {
    const double rim = t.field.size[static_cast<std::size_t>(i)];
    if (std::abs(t.centre[i]) - t.half[i] - margin > rim) return 0;
    hangs_over |= std::abs(t.centre[i]) + t.half[i] > rim;
  }
  const Cells cells = t.cells_around(t.centre, t.half[0] + margin, t.half[1] + margin);
  add_surface(t, cells, found);
  if (hangs_over) add_outer_walls(t, found);
  Distance nearest;
  nearest.beyond = true;
  if (found.least() < 0) {
    nearest = nearest_ground(t, 0.0);
    leave_out_ways_through(t, !nearest.beyond, hangs_over, found);
  }
  const double clearly = 1e-6 * t.size;  // of contacts equal to this the one that is kept may be any
  if (nearest.beyond) nearest = nearest_ground(t, std::min(pair.margin, found.least() - clearly));
  if (!nearest.beyond && nearest.distance < found.least() - clearly) found.add(contact_of(nearest));
  const int count = reduce(found.points(), found.count, pair.most);
  std::copy(found.points(), found.points() + count, out);
  return count;
}

Distance height_field_nearest(const PairArguments& pair) {
  Distance d;
  d.beyond = true;
  if (has_cells(*pair.b.field)) d = nearest_ground(Terrain(pair), pair.margin);
  if (d.beyond) d.distance = pair.margin;
  return d;
}

}  // namespace articula::collision
