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

// All of a register's lanes from the first wanted one on, and all before an end.
inline Lanes lanes_from(Lanes x, int first) {
  const Lanes zero{};
  switch (first) {
    case 0: return x;
    case 1: return __builtin_shufflevector(x, zero, 4, 1, 2, 3);
    case 2: return __builtin_shufflevector(x, zero, 4, 5, 2, 3);
    default: return __builtin_shufflevector(x, zero, 4, 5, 6, 3);
  }
}
inline Lanes lanes_before(Lanes x, int end) {
  const Lanes zero{};
  switch (end) {
    case 1: return __builtin_shufflevector(x, zero, 0, 5, 6, 7);
    case 2: return __builtin_shufflevector(x, zero, 0, 1, 6, 7);
    default: return __builtin_shufflevector(x, zero, 0, 1, 2, 7);
  }
}

// y[first, n) += scale x[first, n) in whole registers: both are padded, x with zeros.
inline void padded_add_from(double* y, const double* x, double scale, int first, int n) {
  const Lanes s = broadcast(scale);
  int i = first / 4 * 4;
  if (i >= n) return;
  store_lanes(y + i, load_lanes(y + i) + lanes_from(load_lanes(x + i), first % 4) * s);
  for (i += 4; i < n; i += 4) store_lanes(y + i, load_lanes(y + i) + load_lanes(x + i) * s);
}

// y[0, end) += scale x[0, end) likewise.
inline void padded_add_before(double* y, const double* x, double scale, int end) {
  const Lanes s = broadcast(scale);
  int i = 0;
  for (; i + 4 <= end; i += 4) store_lanes(y + i, load_lanes(y + i) + load_lanes(x + i) * s);
  if (i < end) store_lanes(y + i, load_lanes(y + i) + lanes_before(load_lanes(x + i), end - i) * s);
}

}  // namespace articula
