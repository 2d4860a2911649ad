#pragma once
// Features that lie flat against a direction, and directions beside it. Where faces or edges are parallel but
// for rounding, iterations that go by positions cannot tell these apart, but their distances differ.

#include "support.hpp"

namespace articula::collision {

// Features of a core whose normals are within 1e-5 rad of a direction, or that lie across it.
struct FlatFeatures {
  static constexpr int room = 24;
  Feature face[room], line[room], point[room];  // rims and surfaces count as points
  int faces = 0, lines = 0, points = 0;
};
FlatFeatures flat_features(const Shape& shape, Vec3 n);

struct Reach {
  Vec3 n;         // unit
  double extent;  // h(n) of A - B
};
// The least h among n itself, the normals of faces, and the directions across edges beside it.
Reach least_beside(const ConvexPair& pair, Vec3 n);

}  // namespace articula::collision
