// In A's frame the extent of A - B along a unit vector n is smooth. With w the farthest point and T across n,
//   h = n . w,   gradient T^T w,   Hessian C_a + C_b - h 1   (C: Hessians of the support functions,
//   patch.hpp)
// Newton's steps, with curvatures taken positive, halved until h falls: unlike the search for matching
// features they end in a minimum from anywhere.

#include "descent.hpp"

#include <algorithm>
#include <cmath>

#include "patch.hpp"

namespace articula::collision {
namespace {

// -|H|^-1 g, along the principal directions of H.
Vec2 downhill(const Mat2& H, Vec2 g, double least) {
  const double mean = 0.5 * (H.xx + H.yy), half = 0.5 * (H.xx - H.yy), spread = std::hypot(half, H.xy);
  const double angle = 0.5 * std::atan2(H.xy, half), c = std::cos(angle), s = std::sin(angle);
  const double first = (g.x * c + g.y * s) / std::max(std::abs(mean + spread), least);
  const double second = (g.y * c - g.x * s) / std::max(std::abs(mean - spread), least);
  return {second * s - first * c, -first * s - second * c};
}

}  // namespace

Vec3 descend_ellipsoids(const ConvexPair& pair, Vec3 n) {
  const Patch a = make_patch(*pair.a, {}, {FeatureKind::surface, 0});
  const Patch b = make_patch(*pair.b, pair.b_in_a, {FeatureKind::surface, 0});
  SurfacePoint pa = settle(a, Vec3(), n), pb = settle(b, Vec3(), -n);
  for (int iteration = 0; iteration < 60; ++iteration) {
    const Basis T(n);
    Mat2 Ca, Cb, D;
    tangent_map(a, pa, T, Ca, D);
    tangent_map(b, pb, T, Cb, D);
    const Vec3 w = pa.x - pb.x;
    const double extent = dot(n, w);
    const Vec2 g = T.of(w);
    Vec2 s = downhill(Ca + Cb + D * -extent, g, 1e-9 * pair.size);
    const double angle = std::hypot(s.x, s.y);
    if (angle > 0.3) s = s * (0.3 / angle);
    bool falls = false;
    for (int halved = 0; halved < 40 && !falls; ++halved, s = s * 0.5) {
      const Vec3 trial = unit(n + T.span(s));
      const SurfacePoint ta = settle(a, Vec3(), trial), tb = settle(b, Vec3(), -trial);
      if (!(dot(trial, ta.x - tb.x) < extent)) continue;
      n = trial, pa = ta, pb = tb, falls = true;
    }
    if (!falls || angle < 1e-12) break;
  }
  return n;
}

}  // namespace articula::collision
