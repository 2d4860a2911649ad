#pragma once
// What every mesh reader checks.

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "articula/math/types.hpp"

namespace articula {

// No robot reaches this far (2^30 m, MuJoCo's bound); beyond it volumes lose their meaning.
constexpr double farthest_coordinate = 1073741824.0;

// Coordinate by coordinate: the largest of several may pass over one that is no number.
inline bool usable(const Vector3& vertex) { return (vertex.array().abs() <= farthest_coordinate).all(); }

inline std::string bad_vertex(const Vector3& vertex) {
  return fmt::format("vertex ({}, {}, {}) is not finite or farther out than 2^30; export the mesh again",
                     vertex[0], vertex[1], vertex[2]);
}

}  // namespace articula
