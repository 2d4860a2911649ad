#pragma once
// The part of a shape that lies along a contact plane: a face's polygon or a rounded segment.

#include "articula/collision/narrowphase.hpp"
#include "patch.hpp"

namespace articula::collision {

struct Contour {
  static constexpr int room = 32;

  // Raw, because clearing it would take longer than filling it.
  alignas(32) unsigned char storage[room * sizeof(Vec3)];
  double x[room], y[room];                 // in the basis of the contact plane
  Feature at_vertex[room], at_edge[room];  // edge i runs from vertex i to the next
  int count = 0;
  bool closed = false;  // a polygon, not a segment
  int face = -1;
  Vec3 normal, point;   // of the face, outward
  double radius = 0.0;  // of a rounded segment

  Vec3& vertex(int i) { return reinterpret_cast<Vec3*>(storage)[i]; }
  const Vec3& vertex(int i) const { return reinterpret_cast<const Vec3*>(storage)[i]; }
  int edges() const { return closed ? count : count - 1; }

  void add(Vec3 v, Feature vertex_feature, Feature edge_feature) {
    vertex(count) = v;
    at_vertex[count] = vertex_feature;
    at_edge[count++] = edge_feature;
  }
};

// The polygon of a face; faces of more than 32 corners are thinned out.
void face_contour(const Shape& shape, const Placement& at, int face, Contour& contour);
// A lying capsule's axis with its radius; a lying cylinder's line that is farthest along `outward`.
void axis_contour(const Shape& shape, const Placement& at, Vec3 outward, Contour& contour);

// Where the outlines of A and B, seen along n, overlap: corners of one inside the other, and crossings of
// edges. Writes the contacts not farther apart than `margin`, at most `limit` of them.
int clip(Contour& a, Contour& b, Vec3 n, NormalRule rule, double margin, double size, ContactPoint* out,
         int limit);

}  // namespace articula::collision
