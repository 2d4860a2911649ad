// A plane against everything: the lowest points of the other shape. Plane first, its normal is its z axis.

#include <algorithm>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

ContactPoint on_plane(Vec3 n, Vec3 surface, double height, Feature feature) {
  ContactPoint c;
  c.position = surface - n * (0.5 * height);
  c.normal = n;
  c.distance = height;
  c.feature_a = {FeatureKind::face, 0};
  c.feature_b = feature;
  return c;
}

}  // namespace

int plane_sphere_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z;
  const double height = dot(n, pair.at_b.p - pair.at_a.p) - pair.b.size[0];
  if (height > pair.margin) return 0;
  *out = on_plane(n, pair.at_b.p - n * pair.b.size[0], height, {FeatureKind::point, 0});
  return 1;
}

int plane_capsule_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, axis = pair.at_b.R.z * pair.b.size[1];
  const double middle = dot(n, pair.at_b.p - pair.at_a.p) - pair.b.size[0], rise = dot(n, axis);
  const Vec3 bottom = pair.at_b.p - n * pair.b.size[0];
  int count = 0;
  if (middle - rise <= pair.margin)
    out[count++] = on_plane(n, bottom - axis, middle - rise, {FeatureKind::point, 0});
  if (middle + rise <= pair.margin)
    out[count++] = on_plane(n, bottom + axis, middle + rise, {FeatureKind::point, 1});
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
      out[count++] = on_plane(n, pair.at_b * x, height, {FeatureKind::point, corner});
  }
  return count;
}

// Standing: four rim points fixed in the body. Otherwise the lowest point of each rim.
int plane_cylinder_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const double radius = pair.b.size[0], half = pair.b.size[1];
  const double across = std::sqrt(local[0] * local[0] + local[1] * local[1]);
  const double middle = dot(n, pair.at_b.p - pair.at_a.p);
  if (middle - radius * across - half * std::abs(local[2]) > pair.margin) return 0;
  int count = 0;
  const int low = local[2] > 0 ? 0 : 1;
  if (across < flat_angle) {
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int i = rim_points * low + 4 * quarter;
      const Vec3 x = point_of(pair.b, i);
      const double height = middle + dot(local, x);
      if (height <= pair.margin) out[count++] = on_plane(n, pair.at_b * x, height, {FeatureKind::point, i});
    }
    if (count > 0) return count;
  }
  const Vec3 down =
      across > 0 ? Vec3(-local[0] * radius / across, -local[1] * radius / across, 0) : Vec3(radius, 0, 0);
  for (const int cap : {low, 1 - low}) {
    const Vec3 x = down + Vec3(0, 0, cap ? half : -half);
    const double height = middle + dot(local, x);
    if (height > pair.margin) break;
    out[count] = on_plane(n, pair.at_b * x, height, {FeatureKind::circle, cap});
    out[count++].degenerate = across < 1e-12;
  }
  return count;
}

int plane_ellipsoid_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const Vec3 s = elementwise(pair.b.size, local);
  const double h = norm(s), height = dot(n, pair.at_b.p - pair.at_a.p) - h;
  if (height > pair.margin) return 0;
  *out =
      on_plane(n, pair.at_b * (elementwise(pair.b.size, s) * (-1.0 / h)), height, {FeatureKind::surface, 0});
  return 1;
}

namespace {

// The vertices found so far, and a table that tells whether one is among them.
struct FoundVertices {
  static constexpr int room = 255;
  static constexpr unsigned slots = 512;
  int vertex[room], count = 0;
  double height[room];
  unsigned char slot[slots] = {};  // 1 + index in `vertex`; 0: free

  void add(int v, double h) {
    unsigned i = static_cast<unsigned>(v) * 2654435761u >> 23;
    for (; slot[i] != 0; i = (i + 1) % slots)
      if (vertex[slot[i] - 1] == v) return;
    if (count == room) return;
    vertex[count] = v;
    height[count] = h;
    slot[i] = static_cast<unsigned char>(++count);
  }
};

}  // namespace

// All vertices below the margin: they hang together, so they are found by spreading from the lowest.
int plane_mesh_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z, local = transpose_times(pair.at_b.R, n);
  const Hull& hull = *pair.b.hull;
  const double middle = dot(n, pair.at_b.p - pair.at_a.p);
  const int lowest = support_mesh(hull, -local).vertex;
  if (middle + dot(local, hull.vertices[lowest]) > pair.margin) return 0;
  FoundVertices found;
  found.add(lowest, middle + dot(local, hull.vertices[lowest]));
  const Lanes nx = broadcast(local[0]), ny = broadcast(local[1]), nz = broadcast(local[2]);
  for (int i = 0; i < found.count; ++i)
    for (int g = hull.ring_begin[found.vertex[i]]; g < hull.ring_begin[found.vertex[i] + 1]; ++g) {
      const double* place = &hull.ring_place[12 * static_cast<std::size_t>(g)];
      const Lanes h = load4(place) * nx + load4(place + 4) * ny + load4(place + 8) * nz + broadcast(middle);
      for (int k = 0; k < 4; ++k)
        if (h[k] <= pair.margin) found.add(hull.ring_vertex[4 * g + k], h[k]);
    }
  Uncleared<Vec3, FoundVertices::room> x;
  for (int i = 0; i < found.count; ++i) x.data()[i] = hull.vertices[found.vertex[i]];
  int kept[max_contact_points];
  const int count = choose(x.data(), found.height, found.count, local, kept);
  for (int i = 0; i < count; ++i) {
    const int v = found.vertex[kept[i]];
    out[i] = on_plane(n, pair.at_b * hull.vertices[v], found.height[kept[i]], {FeatureKind::point, v});
  }
  return count;
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
