#pragma once
// Pairs so cheap that calls between files would cost as much as they do.

#include <algorithm>
#include <cmath>

#include "pairs.hpp"
#include "vector.hpp"

namespace articula::collision {

// Written in place, field by field: a contact is two cache lines.
inline void write_contact(Vec3 position, Vec3 normal, double distance, Feature a, Feature b,
                          ContactPoint* out) {
  out->position = position;
  out->normal = normal;
  out->distance = distance;
  out->feature_a = a;
  out->feature_b = b;
  out->rule = NormalRule::features;
  out->face_a = out->face_b = -1;
  out->degenerate = false;
}

// A surface point at a height over a plane with normal n.
inline void write_on_plane(Vec3 n, Vec3 surface, double height, Feature feature, ContactPoint* out) {
  write_contact(surface - n * (0.5 * height), n, height, {FeatureKind::face, 0}, feature, out);
}

inline int plane_sphere_contacts(const PairArguments& pair, ContactPoint* out) {
  const Vec3 n = pair.at_a.R.z;
  const double radius = pair.b.size[0], centre = dot(n, pair.at_b.p - pair.at_a.p);
  if (centre - radius > pair.margin) return 0;
  write_contact(pair.at_b.p - n * (0.5 * (centre + radius)), n, centre - radius, {FeatureKind::face, 0},
                {FeatureKind::point, 0}, out);
  return 1;
}

// Centres this close have no direction between them: rounding of the size, and of where they are.
inline double least_apart(Vec3 place, double size) {
  return 1e-28 * size * size + 1e-30 * squared_norm(place);  // squared
}

inline int sphere_sphere_contacts(const PairArguments& pair, ContactPoint* out) {
  const double ra = pair.a.size[0], rb = pair.b.size[0], reach = ra + rb + pair.margin;
  const Vec3 apart = pair.at_b.p - pair.at_a.p;
  const double squared = squared_norm(apart), size = std::max(ra, rb);
  if (reach < 0 || squared > reach * reach) return 0;
  if (!(squared > 1e-12 * size * size)) return near_centres_contacts(pair, out);
  const double length = std::sqrt(squared);
  const Vec3 n = apart * (1.0 / length);
  write_contact(pair.at_a.p + n * (0.5 * (length + ra - rb)), n, length - ra - rb, {FeatureKind::point, 0},
                {FeatureKind::point, 0}, out);
  return 1;
}

}  // namespace articula::collision
