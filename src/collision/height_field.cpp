// Contacts with and distance from a height field. Only the part below the shape's bounding box is looked at.

#include "terrain.hpp"

namespace articula::collision {
namespace {

Terrain terrain_of(const PairArguments& pair, Collector& found) {
  const HeightField& f = *pair.b.field;
  const Mat3& R = pair.at_b.R;
  Terrain t{pair, f, {}, found, 2 * f.size[0] / (f.columns - 1), 2 * f.size[1] / (f.rows - 1), 0.0};
  t.in_field = {{transpose_times(R, pair.at_a.R.x), transpose_times(R, pair.at_a.R.y),
                 transpose_times(R, pair.at_a.R.z)},
                transpose_times(R, pair.at_a.p - pair.at_b.p)};
  return t;
}

// Contacts nearer than the margin, and the deepest overlap.
Distance collect(const PairArguments& pair, Collector& found) {
  Distance deepest;
  deepest.beyond = true;
  const HeightField& f = *pair.b.field;
  if (f.rows < 2 || f.columns < 2) return deepest;
  Terrain t = terrain_of(pair, found);
  const Bound around = bound(pair.a);
  const Mat3& Q = t.in_field.R;
  const Vec3 half = Mat3{absolute(Q.x), absolute(Q.y), absolute(Q.z)} * around.half;
  const Vec3 centre = t.in_field * around.centre;
  const double margin = std::max(0.0, found.margin);
  t.lowest = centre[2] - half[2];
  bool hangs_over = false;
  for (int i = 0; i < 2; ++i) {
    const double rim = f.size[static_cast<std::size_t>(i)];
    if (std::abs(centre[i]) - half[i] - margin > rim) return deepest;
    hangs_over |= std::abs(centre[i]) + half[i] > rim;
  }
  deepest = deepest_overlap(t, t.cells_around(centre, half[0], half[1]));
  // Beside walls and sharp ridges a point may be below a triangle and yet outside.
  if (deepest.beyond) found.floor = -1e-10 * size_of(pair.a);
  const Cells cells = t.cells_around(centre, half[0] + margin, half[1] + margin);
  add_surface(t, cells);
  if (hangs_over) add_outer_walls(t, cells);
  return deepest;
}

}  // namespace

// The deepest overlap is among the contacts, or less deep than one of them: where the shape is over several
// triangles, those beside each other do not let it out.
int height_field_contacts(const PairArguments& pair, ContactPoint* out) {
  constexpr int room = 64;
  Uncleared<ContactPoint, room> buffer;
  Collector found{pair.margin, buffer.data(), room};
  const Distance deepest = collect(pair, found);
  double least = INFINITY;
  for (int i = 0; i < found.count; ++i) least = std::min(least, found.points[i].distance);
  if (!deepest.beyond && deepest.distance < least - 1e-12 * size_of(pair.a)) found.add(contact_of(deepest));
  const int count = reduce(buffer.data(), found.count);
  std::copy(buffer.data(), buffer.data() + count, out);
  return count;
}

// In overlap that with the ground below one of the triangles which is deepest. Else the nearest of all
// contacts, which is not farther than the shape's centre from the corner of the grid that is nearest to being
// below it.
Distance height_field_nearest(const PairArguments& pair) {
  const HeightField& f = *pair.b.field;
  Distance d;
  d.beyond = true;
  d.distance = pair.margin;
  if (f.rows < 2 || f.columns < 2) return d;
  const Vec3 centre = transpose_times(pair.at_b.R, pair.at_a * bound(pair.a).centre - pair.at_b.p);
  const auto nearest = [](double along, double half, int count) {
    return static_cast<int>(clamp(std::round((along + half) / (2 * half) * (count - 1)), 0, count - 1));
  };
  const Vec3 corner =
      field_corner(f, nearest(centre[1], f.size[1], f.rows), nearest(centre[0], f.size[0], f.columns));
  ContactPoint c;
  Collector found{std::min(pair.margin, norm(centre - corner)), &c, 1};
  const Distance deepest = collect(pair, found);
  if (!deepest.beyond && deepest.distance < pair.margin) return deepest;
  if (found.count == 0) return d;
  d.beyond = false;
  d.distance = c.distance;
  d.normal = c.normal;
  d.point_a = c.position - c.normal * (0.5 * c.distance);
  d.point_b = c.position + c.normal * (0.5 * c.distance);
  d.feature_a = c.feature_a;
  d.feature_b = c.feature_b;
  d.degenerate = c.degenerate;
  return d;
}

}  // namespace articula::collision
