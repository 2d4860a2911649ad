#pragma once
// Sums and updates over contiguous numbers, four at a time. The order of additions is fixed by the length
// alone, so results do not depend on alignment or on who calls.

#include "articula/math/vec3.hpp"

namespace articula {

inline Lanes load_lanes(const double* p) {
  Lanes a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
inline void store_lanes(double* p, Lanes a) { __builtin_memcpy(p, &a, sizeof a); }

inline double strip_dot(const double* x, const double* y, int n) {
  Lanes first{}, second{};
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    first += load_lanes(x + i) * load_lanes(y + i);
    second += load_lanes(x + i + 4) * load_lanes(y + i + 4);
  }
  for (; i + 4 <= n; i += 4) first += load_lanes(x + i) * load_lanes(y + i);
  const Lanes both = first + second;
  double sum = (both[0] + both[1]) + (both[2] + both[3]);
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// y += scale x
inline void strip_add(double* y, const double* x, double scale, int n) {
  const Lanes s = broadcast(scale);
  int i = 0;
  for (; i + 4 <= n; i += 4) store_lanes(y + i, load_lanes(y + i) + load_lanes(x + i) * s);
  for (; i < n; ++i) y[i] += scale * x[i];
}

}  // namespace articula
