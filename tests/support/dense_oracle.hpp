#pragma once
// A second opinion on signed distances that shares no code and no data with the library: bodies given by
// corners and closed-form support functions, polyhedra enumerated from their corners alone, overlaps searched
// densely over all directions at all scales.

#include "tests/support/random_shapes.hpp"

namespace articula::testing {

// A body in its own frame. Of a mesh only the corners are given; faces and edges follow from them.
struct DenseBody {
  ShapeType type = ShapeType::sphere;
  Vector3 size = Vector3::Zero();  // as in GeometryDescription
  std::vector<Vector3> corners;    // box, mesh
  std::vector<Vector3> face_normals;
  std::vector<double> face_offsets;
  std::vector<std::vector<int>> face_corners;  // counter-clockwise from outside
  std::vector<Vector3> edges;                  // unit directions

  bool polyhedral() const { return type == ShapeType::box || type == ShapeType::mesh; }
  double extent() const;  // the largest half size
};

DenseBody dense_body(ShapeType type, const Vector3& size);
// The hull of points: every plane through three of them that has all others on one side.
DenseBody dense_hull(const std::vector<Vector3>& points);
// The same body as the library takes it.
collision::Shape library_shape(const DenseBody& body);

// max over the body of m . x, in its own frame
double reach(const DenseBody& body, const Vector3& m);

struct DensePair {
  const DenseBody *a = nullptr, *b = nullptr;
  Matrix3 A, B;
  Vector3 apart;  // from A's origin to B's
};

// h(n) = max over A - B of n . w, n a unit vector: minus the gap along n.
double overlap_along(const DensePair& pair, const Vector3& n);
// How far a point, seen from the body's origin and in its axes, is outside the body (0: inside).
double outside(const DenseBody& body, const Vector3& x);
// A lower bound of the distance of bodies that are apart: the widest gap along directions beside `hint`.
double widest_gap(const DensePair& pair, const Vector3& hint, Random& random);
// min over n of h(n): exact for two polyhedra, else the best of a dense search.
double least_overlap(const DensePair& pair, const Vector3& hint, Random& random);

}  // namespace articula::testing
