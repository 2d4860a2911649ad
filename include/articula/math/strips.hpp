#pragma once
// Sums and updates over contiguous numbers, four at a time. The order of additions is fixed by the length
// alone, so results do not depend on alignment or on who calls.

#include <bit>

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

// y += scale[0] x[0] + ... + scale[3] x[3]
inline void strip_add_four(double* y, const double* const* x, const double* scale, int n) {
  const Lanes s0 = broadcast(scale[0]), s1 = broadcast(scale[1]), s2 = broadcast(scale[2]),
              s3 = broadcast(scale[3]);
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    Lanes sum = load_lanes(y + i) + load_lanes(x[0] + i) * s0;
    sum = sum + load_lanes(x[1] + i) * s1;
    sum = sum + load_lanes(x[2] + i) * s2;
    store_lanes(y + i, sum + load_lanes(x[3] + i) * s3);
  }
  for (; i < n; ++i)
    y[i] += scale[0] * x[0][i] + scale[1] * x[1][i] + scale[2] * x[2][i] + scale[3] * x[3][i];
}

// Four rows, one after the other in steps of `stride`, times x.
inline Lanes strip_dot_four(const double* rows, int stride, const double* x, int n) {
  const double *r0 = rows, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
  Lanes a{}, b{}, c{}, d{};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const Lanes here = load_lanes(x + i);
    a += load_lanes(r0 + i) * here;
    b += load_lanes(r1 + i) * here;
    c += load_lanes(r2 + i) * here;
    d += load_lanes(r3 + i) * here;
  }
  Lanes sums = {(a[0] + a[1]) + (a[2] + a[3]), (b[0] + b[1]) + (b[2] + b[3]), (c[0] + c[1]) + (c[2] + c[3]),
                (d[0] + d[1]) + (d[2] + d[3])};
  for (; i < n; ++i) sums += Lanes{r0[i], r1[i], r2[i], r3[i]} * broadcast(x[i]);
  return sums;
}

// A register's lanes from the first wanted one on, and those before an end; zero elsewhere. Without branches.
inline Lanes masked_lanes(Lanes x, const long long* mask) {
  using Bits = long long __attribute__((vector_size(32)));
  Bits keep;
  __builtin_memcpy(&keep, mask, sizeof keep);
  return std::bit_cast<Lanes>(std::bit_cast<Bits>(x) & keep);
}
inline Lanes lanes_from(Lanes x, int first) {
  static constexpr long long masks[8] = {0, 0, 0, 0, -1, -1, -1, -1};
  return masked_lanes(x, masks + 4 - first);
}
inline Lanes lanes_before(Lanes x, int end) {
  static constexpr long long masks[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  return masked_lanes(x, masks + 4 - end);
}

// x with another number in one of its lanes.
inline Lanes with_lane(Lanes x, int lane, double number) {
  using Bits = long long __attribute__((vector_size(32)));
  static constexpr long long masks[7] = {0, 0, 0, -1, 0, 0, 0};
  Bits at;
  __builtin_memcpy(&at, masks + 3 - lane, sizeof at);
  return std::bit_cast<Lanes>((std::bit_cast<Bits>(x) & ~at) | (std::bit_cast<Bits>(broadcast(number)) & at));
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
