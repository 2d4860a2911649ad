#pragma once
// Small vector helpers of the narrow phase.

#include <cmath>

#include "articula/math/placement.hpp"

namespace articula::collision {

inline Vec3 unit(Vec3 v) { return v * (1.0 / norm(v)); }

// Some unit vector across a unit vector n: the x axis, or near it y, made orthogonal. Where it jumps (26
// degrees off x) few normals lie: among those along an axis rounding must not choose, or frames of contacts
// at rest turn.
inline Vec3 any_across(Vec3 n) {
  constexpr double near = 0.9;
  return unit(cross(n, std::abs(n[0]) < near ? Vec3(1, 0, 0) : Vec3(0, 1, 0)));
}

inline Vec3 absolute(Vec3 v) {
  using Bits = long long __attribute__((vector_size(32)));
  constexpr long long sign = 1LL << 63;
  return Vec3(reinterpret_cast<Lanes>(reinterpret_cast<Bits>(v.lanes) & ~Bits{sign, sign, sign, sign}));
}

using Mask = decltype(Lanes{} < Lanes{});

// Bit i: whether lane i holds.
inline int lane_bits(Mask m) {
#ifdef __AVX__
  return __builtin_ia32_movmskpd256(reinterpret_cast<Lanes>(m));
#else
  return static_cast<int>((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
#endif
}

inline double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// Unit vector along axis i; from a table, because writing one lane of a register stalls.
inline Vec3 axis_vector(int i) {
  alignas(32) static constexpr double axes[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  Lanes lanes;
  __builtin_memcpy(&lanes, axes[i], sizeof lanes);
  return Vec3(lanes);
}

// v with the signs that the bits of a box's corner stand for: set, as it is; not set, turned round.
inline Vec3 with_signs(Vec3 v, int corner) {
  using Bits = long long __attribute__((vector_size(32)));
  constexpr long long minus = 1LL << 63;
  alignas(32) static constexpr long long signs[8][4] = {
      {minus, minus, minus, 0}, {0, minus, minus, 0}, {minus, 0, minus, 0}, {0, 0, minus, 0},
      {minus, minus, 0, 0},     {0, minus, 0, 0},     {minus, 0, 0, 0},     {0, 0, 0, 0}};
  Bits bits;
  __builtin_memcpy(&bits, signs[corner], sizeof bits);
  return Vec3(reinterpret_cast<Lanes>(reinterpret_cast<Bits>(v.lanes) ^ bits));
}

// B's placement as A sees it.
inline Placement relative(const Placement& a, const Placement& b) {
  const Mat3 from_world = transpose(a.R);
  return {from_world * b.R, from_world * (b.p - a.p)};
}

// Length of the part across the z axis.
inline double across_z(Vec3 v) { return std::sqrt(v[0] * v[0] + v[1] * v[1]); }

// Lane i replaced.
inline Vec3 with_lane(Vec3 v, int i, double value) {
  v.lanes[i] = value;
  return v;
}

}  // namespace articula::collision
