// A plane against everything but spheres (tiny_pairs.hpp): the lowest points of the other shape. Plane first,
// its normal is its z axis.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"
#include "tiny_pairs.hpp"

namespace articula::collision {
int plane_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, axis = pair.at_b.R.z * pair.b.size[1];
  const double middle = dot(n, pair.at_b.p - pair.at_a.p) - pair.b.size[0], rise = dot(n, axis);
  const Vec3 bottom = pair.at_b.p - n * pair.b.size[0];
  int count = 0;
  if (middle - rise <= pair.margin)
    write_on_plane(n, bottom - axis, middle - rise, {FeatureKind::point, 0}, &out[count++]);
  if (middle + rise <= pair.margin)
    write_on_plane(n, bottom + axis, middle + rise, {FeatureKind::point, 1}, &out[count++]);
  return count;
}

// The corners of the face that looks most towards the plane.
int plane_box_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z;
  const Vec3 local = transpose_times(pair.at_b.R, n), half = pair.b.size;
  const double middle = dot(n, pair.at_b.p - pair.at_a.p);
  if (middle - dot(absolute(local), half) > pair.margin) return 0;
  const int face = nearest_face(pair.b, -local, 0), axis = face / 2;
  int count = 0;
  for (int i = 0; i < 4; ++i) {
    const int corner = ((i & 1) << (axis + 1) % 3) | ((i >> 1) << (axis + 2) % 3) | ((face & 1) << axis);
    const Vec3 x = box_corner(half, corner);
    const double height = middle + dot(local, x);
    if (height <= pair.margin)
      write_on_plane(n, pair.at_b * x, height, {FeatureKind::point, corner}, &out[count++]);
  }
  return count;
}

namespace {

// Standing: four rim points fixed in the body.
int standing_cylinder(const PairArguments& pair, Vec3 n, double middle, int low, ContactPoint* out) {
  int count = 0;
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int i = rim_points * low + 4 * quarter;
    const Vec3 x = pair.at_b.R * point_of(pair.b, i);
    const double height = middle + dot(n, x);
    if (height <= pair.margin)
      write_on_plane(n, pair.at_b.p + x, height, {FeatureKind::point, i}, &out[count++]);
  }
  return count;
}

}  // namespace

// Not standing: the lowest point of each rim, which is where -n points across the axis.
int plane_cylinder_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, axis = pair.at_b.R.z;
  const double radius = pair.b.size[0], half = pair.b.size[1], rise = dot(n, axis);
  const Vec3 down = axis * rise - n;
  const double across = norm(down), middle = dot(n, pair.at_b.p - pair.at_a.p);
  const double sink = radius * across, tilt = half * std::abs(rise);
  if (middle - sink - tilt > pair.margin) return 0;
  const int low = rise > 0 ? 0 : 1;
  if (across < flat_angle) {
    const int count = standing_cylinder(pair, n, middle, low, out);
    if (count > 0) return count;
  }
  const Vec3 rim = pair.at_b.p + (across > 0 ? down * (radius / across) : pair.at_b.R.x * radius);
  const bool degenerate = across < 1e-12;
  int count = 0;
  for (int side = 0; side < 2; ++side) {
    const double height = middle - sink + (side == low ? -tilt : tilt);
    if (height > pair.margin) continue;
    write_on_plane(n, rim + axis * (side ? half : -half), height, {FeatureKind::circle, side}, &out[count]);
    out[count++].degenerate = degenerate;
  }
  return count;
}

int plane_ellipsoid_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const Vec3 s = elementwise(pair.b.size, local);
  const double h = norm(s), height = dot(n, pair.at_b.p - pair.at_a.p) - h;
  if (height > pair.margin) return 0;
  write_on_plane(n, pair.at_b * (elementwise(pair.b.size, s) * (-1.0 / h)), height, {FeatureKind::surface, 0},
                 out);
  return 1;
}

namespace {

// Vertices below a level, by cluster: those whose sphere reaches below it. More than `most`, or than there is
// room for, are thinned out to those that carry, the deepest among them.
struct BelowPlane {
  static constexpr int room = Spread::room;
  int vertex[room];
  Spread points;  // places in the hull's frame, and heights

  // Heights are middle + n . x. Few branches: which clusters count is as good as random.
  BelowPlane(const Hull& hull, Vec3 n, double middle, double level, int most) {
    const Lanes nx = broadcast(n[0]), ny = broadcast(n[1]), nz = broadcast(n[2]), m = broadcast(middle);
    const auto heights = [&](const double* x, const double* y, const double* z) {
      return load4(x) * nx + load4(y) * ny + load4(z) * nz + m;
    };
    const int clusters = static_cast<int>(hull.cluster_x.size());
    int filled = 0;  // not in memory
    for (int block = 0; block < clusters; block += 64) {
      std::uint64_t near = 0;
      for (int c = block; c < std::min(block + 64, clusters); c += 4) {
        const Lanes lowest = heights(&hull.cluster_x[c], &hull.cluster_y[c], &hull.cluster_z[c]) -
                             load4(&hull.cluster_radius[c]);
        near |= static_cast<std::uint64_t>(lane_bits(lowest <= broadcast(level))) << (c - block);
      }
      for (; near != 0; near &= near - 1) {
        const std::size_t cluster = static_cast<std::size_t>(block + std::countr_zero(near));
        const double* place = &hull.cluster_place[48 * cluster];
        alignas(32) double height[16];
        unsigned below = 0;
        for (int group = 0; group < 4; ++group) {
          const Lanes h = heights(place + 12 * group, place + 12 * group + 4, place + 12 * group + 8);
          __builtin_memcpy(height + 4 * group, &h, sizeof h);
          below |= static_cast<unsigned>(lane_bits(h <= broadcast(level))) << (4 * group);
        }
        if (filled + 16 > room) {
          collect_many(hull, n, middle, level);
          return;
        }
        filled = add(&hull.cluster_vertex[16 * cluster], place, height, below, filled);
      }
    }
    points.count = filled;
    if (filled > most) thin_out(n);
  }

 private:
  // Those of a cluster that are below; what only fills it up has vertex -1.
  int add(const int* members, const double* place, const double* height, unsigned below, int filled) {
    for (; below != 0; below &= below - 1) {
      const int k = std::countr_zero(below), at = 12 * (k / 4) + k % 4;
      vertex[filled] = members[k];
      points.set(filled, Vec3(place[at], place[at + 4], place[at + 8]), height[k]);
      filled += members[k] >= 0 ? 1 : 0;
    }
    return filled;
  }

  // One by one. Apart, so that the loop above keeps its registers.
  [[gnu::noinline]] void collect_many(const Hull& hull, Vec3 n, double middle, double level) {
    points.count = 0;
    for (int v = 0; v < hull.vertex_count(); ++v) {
      const double h = middle + dot(n, hull.vertices[v]);
      if (h > level) continue;
      if (points.count == room) thin_out(n);
      vertex[points.count] = v;
      points.set(points.count++, hull.vertices[v], h);
    }
    thin_out(n);
  }

  // Keeps the vertices that carry.
  [[gnu::noinline]] void thin_out(Vec3 n) {
    points.fill_up();
    int kept[usual_contact_points];
    const int left = choose(points, n, kept);
    for (int i = 0; i < left; ++i) {
      const int k = kept[i];
      vertex[i] = vertex[k];
      points.set(i, Vec3(points.x[k], points.y[k], points.z[k]), points.distance[k]);
    }
    points.count = left;
  }
};

}  // namespace

// The vertices below the margin, and of these the ones that carry.
int plane_mesh_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const Hull& hull = *pair.b.hull;
  const double middle = dot(n, pair.at_b.p - pair.at_a.p);
  // Of many vertices the lowest is found faster than all clusters are looked at.
  constexpr int many = 2048;
  if (hull.vertex_count() > many && middle + dot(local, support_mesh(hull, -local).x) > pair.margin) return 0;
  const BelowPlane below(hull, local, middle, pair.margin, pair.most);
  const Spread& p = below.points;
  for (int i = 0; i < p.count; ++i)
    write_on_plane(n, pair.at_b * Vec3(p.x[i], p.y[i], p.z[i]), p.distance[i],
                   {FeatureKind::point, below.vertex[i]}, &out[i]);
  return p.count;
}

Distance plane_convex(const PairArguments& pair) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const SupportPoint lowest = support(pair.b, -local);
  const double radius = core_radius(pair.b);
  const Vec3 x = pair.at_b.R * lowest.x - n * radius;
  Distance d;
  d.normal = n;
  d.distance = dot(n, pair.at_b.p - pair.at_a.p) + dot(n, x);
  d.point_b = pair.at_b.p + x;
  d.point_a = d.point_b - n * d.distance;
  d.feature_a = {FeatureKind::face, 0};
  d.feature_b = pair.b.type == ShapeType::ellipsoid  ? Feature{FeatureKind::surface, 0}
                : pair.b.type == ShapeType::cylinder ? Feature{FeatureKind::circle, local[2] > 0 ? 0 : 1}
                                                     : Feature{FeatureKind::point, lowest.vertex};
  d.beyond = d.distance > pair.margin;
  return d;
}

}  // namespace articula::collision
