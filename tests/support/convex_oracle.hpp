#pragma once
// Signed distances judged without the library's algorithms: support functions written out again in Eigen,
// certificates for separated pairs, exhaustive and dense searches for overlapping ones.

#include "articula/collision/narrowphase.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing {

// A shape somewhere in the world, with its own support function and membership test.
struct OracleBody {
  const collision::Shape* shape = nullptr;
  Matrix3 R;
  Vector3 p;

  OracleBody(const collision::Shape& s, const Placement& at) : shape(&s), R(at.R.eigen()), p(at.p.eigen()) {}

  // max over the body of n . (x - p)
  double extent(const Vector3& n) const;
  // How far outside the body a point is, at least (0: inside), measured along the body's own constraints.
  double violation(const Vector3& x) const;
  std::vector<Vector3> vertices() const;  // of boxes and meshes, relative to p
  std::vector<Vector3> face_normals() const;
  std::vector<Vector3> edges() const;
};

// Extent of A - B along n: minus the gap between the bodies along n.
double overlap_along(const OracleBody& a, const OracleBody& b, const Vector3& n);

// Smallest overlap over all directions: exact for boxes and meshes (all candidate normals), else by dense
// sampling, all special directions, and local descent from the best, including from `hint`.
double least_overlap(const OracleBody& a, const OracleBody& b, const Vector3& hint, Random& random,
                     int samples);

// The largest of: how far the points of a distance are from the shapes and from each other, and how far it is
// from what the support functions prove (apart) or the search finds (overlapping).
double distance_error(const collision::Shape& a, const Placement& at_a, const collision::Shape& b,
                      const Placement& at_b, const collision::Distance& distance, Random& random,
                      int samples);

}  // namespace articula::testing
