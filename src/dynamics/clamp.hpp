#pragma once

#include <algorithm>
#include <optional>

#include "articula/math/types.hpp"

namespace articula {

// A number held to a range. The slope at an end is that of the clamped side.
struct Clamped {
  double value = 0.0, slope = 1.0;
};

inline Clamped clamp(double x, const std::optional<Vector2>& range) {
  if (!range) return {x, 1.0};
  const double low = (*range)[0], high = (*range)[1];
  return {std::clamp(x, low, high), x > low && x < high ? 1.0 : 0.0};
}

// -1 and 1 at and beyond the ends, 0 within.
inline int side_of(double x, const Vector2& range) { return x <= range[0] ? -1 : x >= range[1] ? 1 : 0; }

}  // namespace articula
