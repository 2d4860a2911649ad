#pragma once
// Four registers of four numbers, transposed.

#include "articula/math/strips.hpp"

namespace articula {

inline void transpose_four(Lanes* a) {
  const Lanes t0 = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6),
              t1 = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7),
              t2 = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6),
              t3 = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);
  a[0] = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);
  a[1] = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);
  a[2] = __builtin_shufflevector(t0, t2, 2, 3, 6, 7);
  a[3] = __builtin_shufflevector(t1, t3, 2, 3, 6, 7);
}

}  // namespace articula
