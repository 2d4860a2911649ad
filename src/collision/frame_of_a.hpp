#pragma once
// A pair as A sees it, and the way back to the world.

#include "articula/collision/narrowphase.hpp"
#include "vector.hpp"

namespace articula::collision {

struct FrameOfA {
  const Placement& home;
  Placement b;

  FrameOfA(const Placement& at_a, const Placement& at_b) : home(at_a), b(relative(at_a, at_b)) {}

  void bring_home(ContactPoint& c) const {
    c.position = home * c.position;
    c.normal = home.R * c.normal;
  }
  void bring_home(Distance& d) const {
    d.normal = home.R * d.normal;
    d.point_a = home * d.point_a;
    d.point_b = home * d.point_b;
  }
};

// A relative placement on a grid somewhat coarser than what rounding does when a scene is moved or turned. A
// search that sees only this one resolves ties (faces flush, centres that coincide) the same way wherever the
// scene is: it sees the same bits.
inline Placement on_grid(const Placement& at, double size) {
  constexpr double grid = 0x1p-43;
  // v + m - m keeps multiples of the step s, for m = 1.5 2^52 s.
  const auto round = [](Vec3 v, double step) {
    const Lanes m = broadcast(0x1.8p52 * step);
    return Vec3((v.lanes + m) - m);
  };
  // The power of two in the size.
  const double unit = __builtin_bit_cast(double, __builtin_bit_cast(long long, size) & 0x7ff0000000000000LL);
  return {{round(at.R.x, grid), round(at.R.y, grid), round(at.R.z, grid)}, round(at.p, grid * unit)};
}

}  // namespace articula::collision
