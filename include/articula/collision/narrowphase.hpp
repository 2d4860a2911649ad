#pragma once
// Contacts and distances of two placed shapes: pure functions of the shapes and their placements.

#include "articula/collision/shape.hpp"

namespace articula::collision {

// Two faces (or a face and an edge) this close to parallel, in radians, lie flat on each other: the contact
// has the mean of their normals, n = normalise(n_A - n_B), or the face's, instead of that of the single
// deepest point.
inline constexpr double flat_angle = 0.02;
inline constexpr double flat_cosine = 1 - 0.5 * flat_angle * flat_angle;
// Two lines (edges, capsules, sides of cylinders) this close to parallel touch along their overlap: two
// points.
inline constexpr double parallel_angle = 1e-3;
// Points per pair. Two boxes that lie on each other have all corners of what the faces share, or bodies at
// rest would rock from one choice of them to the next. Others have at most the usual number: the deepest and
// those that span the widest area.
inline constexpr int max_contact_points = 8, usual_contact_points = 4;

// How the normal of a contact follows from the two shapes.
//   features   the nearest (or deepest) points of the two features
//   face_a/b   the outward normal of A's face (or minus that of B's)
//   faces      the mean of both
enum class NormalRule : std::uint8_t { features, face_a, face_b, faces };

struct ContactPoint {
  Vec3 position;          // where the bodies act on each other, between the surfaces (docs/collision.md)
  Vec3 normal;            // unit, from A to B
  double distance = 0.0;  // along the normal; negative: overlap
  Feature feature_a,
      feature_b;  // what touches; with the two geometries the identity of the contact across steps
  NormalRule rule = NormalRule::features;
  int face_a = -1, face_b = -1;        // the faces that `rule` speaks of
  double lean = 0.0, lean_rate = 0.0;  // of the position: -1 on A, 0 halfway, 1 on B; by the distance
  // No unique normal here (coincident centres, a centre on an axis): a fixed choice was made.
  bool degenerate = false;
};

// Writes the contacts nearer than `margin` to `out` (room for max_contact_points); returns how many. Throws
// Error where a placement is not finite, or the margin not a number; so does distance().
int collide(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b, double margin,
            ContactPoint* out);

struct Distance {
  double distance = 0.0;  // negative: depth of the overlap. If `beyond`: a lower bound
  Vec3 normal;            // unit, from A to B
  Vec3 point_a, point_b;  // nearest (deepest) surface points, point_b - point_a = distance normal
  Feature feature_a, feature_b;
  bool beyond = false;      // farther apart than `limit`; only the bound is known
  bool degenerate = false;  // as in ContactPoint
  bool exact = true;        // false: an iteration limit was hit; the distance is the best bound found
};

// Signed distance: the length of the shortest translation that brings the shapes to touch; from a height
// field the least of those from the prisms below its triangles. Two of planes and height fields have none.
Distance distance(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                  double limit = 1e300);

}  // namespace articula::collision
