#pragma once
// Random shapes and placements, and convex hulls made without the library.

#include <random>

#include "articula/collision/shape.hpp"

namespace articula::testing {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
inline double normal(Random& random) { return std::normal_distribution<double>()(random); }
inline double log_uniform(Random& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}

inline Vector3 random_direction(Random& random) {
  return Vector3(normal(random), normal(random), normal(random)).normalized();
}
inline Quaternion random_rotation(Random& random) {
  return Quaternion(normal(random), normal(random), normal(random), normal(random)).normalized();
}

// Triangles of the convex hull of points in general position: one point after the other, each replacing the
// triangles that it sees.
std::vector<std::array<int, 3>> incremental_hull(const std::vector<Vector3>& points);

// A hull of `count` random points on an ellipsoid of the given radii.
std::shared_ptr<const collision::Hull> random_hull(Random& random, int count, const Vector3& radii);

// A random bounded shape of about the given size.
collision::Shape random_shape(Random& random, ShapeType type, double size);

// A height field of `grid` times `grid` random heights up to `height`, from -half_width to half_width.
collision::Shape random_terrain(Random& random, int grid, double half_width, double height);

}  // namespace articula::testing
