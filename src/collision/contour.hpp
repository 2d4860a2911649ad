#pragma once
// The part of a shape that lies along a contact plane: a face's polygon or a rounded segment.

#include "articula/collision/narrowphase.hpp"
#include "pairs.hpp"
#include "patch.hpp"

namespace articula::collision {

struct Contour {
  static constexpr int room = 32;

  Uncleared<Vec3, room> vertices;
  // Seen along the contact's normal: across it and along it, in a basis of the contact plane.
  alignas(32) double x[room], y[room], z[room];
  Uncleared<Feature, room> vertex_features, edge_features;
  int count = 0;
  bool closed = false;  // a polygon, not a segment
  bool disc = false;    // the points of a rim
  bool stands = false;  // a disc, all of it over the other outline; after clip
  int face = -1;
  Vec3 normal, point;   // of the face, outward
  double radius = 0.0;  // of a rounded segment

  const Vec3& vertex(int i) const { return vertices.data()[i]; }
  Feature at_vertex(int i) const { return vertex_features.data()[i]; }
  Feature at_edge(int i) const { return edge_features.data()[i]; }  // from vertex i to the next
  int edges() const { return closed ? count : count - 1; }

  void add(Vec3 v, Feature vertex_feature, Feature edge_feature) {
    vertices.data()[count] = v;
    vertex_features.data()[count] = vertex_feature;
    edge_features.data()[count++] = edge_feature;
  }
};

// The polygon of a face; faces of more than 32 corners are thinned out.
void face_contour(const Shape& shape, const Placement& at, int face, Contour& contour);
// A lying capsule's axis with its radius; a lying cylinder's line that is farthest along `outward`.
void axis_contour(const Shape& shape, const Placement& at, Vec3 outward, Contour& contour);

// Where the outlines of A and B, seen along n, overlap: corners of one inside the other, and crossings of
// edges. Writes the contacts not farther apart than `margin`, at most `limit` of them. A disc that stands on
// the other outline has four, which stay with it, as on a plane: which of its points carry most would change
// with the slightest tilt.
int clip(Contour& a, Contour& b, Vec3 n, NormalRule rule, double margin, double size, ContactPoint* out,
         int limit);

}  // namespace articula::collision
