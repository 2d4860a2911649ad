#pragma once
// Pairs of shapes in every special position: faces flush, edges parallel, axes aligned and across, corners on
// corners, edges and faces, centres that coincide, one shape inside the other.

#include <functional>

#include "tests/support/convex_oracle.hpp"

namespace articula::testing {

struct NamedShape {
  const char* name;
  collision::Shape shape;
};

// A plane and bounded shapes of about size s, thin and round ones among them.
std::vector<NamedShape> special_shapes(double s);

// A box as a mesh, its faces merged from triangles.
collision::Shape cube_mesh(const Vector3& half);
collision::Shape octahedron(double radius);

struct AlignedScene {
  const collision::Shape &a, &b;
  Placement at_a, at_b;
  double size;  // the larger of the two shapes'
  int number;
};

// The n-th of the special shapes against all others; of all positions every `stride`-th. Ends early where
// `visit` returns false.
void visit_aligned_scenes(int n, int stride, const std::function<bool(const AlignedScene&)>& visit);

}  // namespace articula::testing
