#include <algorithm>
#include <bit>

#include "pairs.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

// Of nearly equal scores the first point wins: neither rounding nor a small motion decides among the points
// of a rim or the corners of a square, which tie.
constexpr double nearly = 1 - 1e-3;

double largest(Lanes v) { return std::max(std::max(v[0], v[1]), std::max(v[2], v[3])); }
Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

// Scores of all points; whole registers of them.
struct Scores {
  alignas(32) double value[Spread::room];

  // The first that is not below (of `sign` 1) or not above (of -1) a level.
  int first(int count, double level, double sign) const {
    for (int i = 0; i < count; i += 4) {
      const int bits = lane_bits(load4(value + i) * broadcast(sign) >= broadcast(level * sign));
      if (bits != 0) return i + std::countr_zero(static_cast<unsigned>(bits));
    }
    return -1;
  }
};

// What the points of a set are to a given one: their offsets from it.
struct Offsets {
  const Spread& s;
  Lanes x, y, z;

  Offsets(const Spread& spread, int origin)
      : s(spread),
        x(broadcast(s.x[origin])),
        y(broadcast(s.y[origin])),
        z(broadcast(s.z[origin])) {}
  Lanes squared(int i) const {
    const Lanes dx = load4(s.x + i) - x, dy = load4(s.y + i) - y, dz = load4(s.z + i) - z;
    return dx * dx + dy * dy + dz * dz;
  }
  Lanes along(Vec3 d, int i) const {
    return (load4(s.x + i) - x) * broadcast(d[0]) + (load4(s.y + i) - y) * broadcast(d[1]) +
           (load4(s.z + i) - z) * broadcast(d[2]);
  }
};

int deepest(const Spread& s, double noise) {
  Lanes height = -load4(s.distance);
  for (int i = 4; i < s.count; i += 4) height = larger(height, -load4(s.distance + i));
  const Lanes level = broadcast(-largest(height) + noise);
  for (int i = 0; i < s.count; i += 4)
    if (const int bits = lane_bits(load4(s.distance + i) <= level); bits != 0)
      return i + std::countr_zero(static_cast<unsigned>(bits));
  return 0;  // distances that are no numbers
}

}  // namespace

void Spread::fill_up() {
  for (int i = count; i % 4 != 0; ++i)
    x[i] = x[count - 1], y[i] = y[count - 1], z[i] = z[count - 1], distance[i] = distance[count - 1];
}

// The point deepest by more than rounding, the one farthest from it, then those that add most area on either
// side of the line between the two.
int choose(const Spread& s, Vec3 n, int* kept) {
  if (s.count <= max_contact_points) {
    for (int i = 0; i < s.count; ++i) kept[i] = i;
    return s.count;
  }
  const Offsets from_start(s, 0);
  Lanes widest{};
  for (int i = 0; i < s.count; i += 4) widest = larger(widest, from_start.squared(i));
  const double extent = largest(widest);
  int chosen[4] = {deepest(s, 1e-6 * std::sqrt(extent)), -1, -1, -1};

  Scores scores;
  const Offsets offsets(s, chosen[0]);
  Lanes farthest{};
  for (int i = 0; i < s.count; i += 4) {
    const Lanes length = offsets.squared(i);
    farthest = larger(farthest, length);
    __builtin_memcpy(scores.value + i, &length, sizeof length);
  }
  const double length = largest(farthest);
  if (!(length > 0)) {
    kept[0] = chosen[0];
    return 1;
  }
  const int second = chosen[1] = scores.first(s.count, nearly * length, 1.0);

  // Twice the area of (first, second, x): n . (side x (x - first)) = (n x side) . (x - first)
  const Vec3 side(s.x[second] - s.x[chosen[0]], s.y[second] - s.y[chosen[0]], s.z[second] - s.z[chosen[0]]);
  const Vec3 across = cross(n, side);
  Lanes left{}, right{};
  for (int i = 0; i < s.count; i += 4) {
    const Lanes area = offsets.along(across, i);
    left = larger(left, area);
    right = larger(right, -area);
    __builtin_memcpy(scores.value + i, &area, sizeof area);
  }
  const double most = largest(left), least = -largest(right), nothing = 1e-12 * extent;
  if (most > nothing) chosen[2] = scores.first(s.count, nearly * most, 1.0);
  if (least < -nothing) chosen[3] = scores.first(s.count, nearly * least, -1.0);
  // In the order they came, so that the choice does not reorder.
  for (const auto& [i, j] : {std::pair{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}}) {
    const int low = std::min(chosen[i], chosen[j]), high = std::max(chosen[i], chosen[j]);
    chosen[i] = low, chosen[j] = high;
  }
  int count = 0;
  for (const int i : chosen)
    if (i >= 0) kept[count++] = i;
  return count;
}

int reduce(ContactPoint* p, int count) {
  if (count <= max_contact_points) return count;
  Spread s;
  s.count = std::min(count, Spread::room);
  for (int i = 0; i < s.count; ++i) s.set(i, p[i].position, p[i].distance);
  s.fill_up();
  int kept[max_contact_points];
  const int left = choose(s, p[0].normal, kept);
  for (int i = 0; i < left; ++i) p[i] = p[kept[i]];
  return left;
}

}  // namespace articula::collision
