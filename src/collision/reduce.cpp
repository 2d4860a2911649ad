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

  // The first that is not below a level.
  int first(int count, double level) const {
    for (int i = 0; i < count; i += 4) {
      const int bits = lane_bits(load4(value + i) >= broadcast(level));
      if (bits != 0) return i + std::countr_zero(static_cast<unsigned>(bits));
    }
    return -1;
  }
};

// What the points of a set are to a given one: their offsets from it.
struct Offsets {
  const Spread& s;
  Lanes x, y, z, distance;

  Offsets(const Spread& spread, int origin)
      : s(spread),
        x(broadcast(s.x[origin])),
        y(broadcast(s.y[origin])),
        z(broadcast(s.z[origin])),
        distance(broadcast(s.distance[origin])) {}
  Lanes squared(int i) const {
    const Lanes dx = load4(s.x + i) - x, dy = load4(s.y + i) - y, dz = load4(s.z + i) - z;
    return dx * dx + dy * dy + dz * dz;
  }
  // How much farther away from the surface they are.
  Lanes higher(int i) const { return larger(load4(s.distance + i) - distance, Lanes{}); }
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
// side of the line between the two. Points high above the others, within a wide margin, count for less: what
// is below them touches first.
int choose(const Spread& s, Vec3 n, int* kept) {
  if (s.count <= usual_contact_points) {
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
    const Lanes higher = offsets.higher(i), length = offsets.squared(i) - broadcast(3.0) * higher * higher;
    farthest = larger(farthest, length);
    __builtin_memcpy(scores.value + i, &length, sizeof length);
  }
  const double length = largest(farthest);
  if (!(length > 0)) {
    kept[0] = chosen[0];
    return 1;
  }
  const int second = chosen[1] = scores.first(s.count, nearly * length);

  // Twice the area of (first, second, x): n . (side x (x - first)) = (n x side) . (x - first)
  const Vec3 side(s.x[second] - s.x[chosen[0]], s.y[second] - s.y[chosen[0]], s.z[second] - s.z[chosen[0]]);
  const Vec3 across = cross(n, side);
  const Lanes base = broadcast(norm(side));
  Scores opposite;
  Lanes left{}, right{};
  for (int i = 0; i < s.count; i += 4) {
    const Lanes area = offsets.along(across, i), less = base * offsets.higher(i);
    const Lanes to_left = area - less, to_right = -area - less;
    left = larger(left, to_left);
    right = larger(right, to_right);
    __builtin_memcpy(scores.value + i, &to_left, sizeof to_left);
    __builtin_memcpy(opposite.value + i, &to_right, sizeof to_right);
  }
  const double most = largest(left), least = largest(right), nothing = 1e-12 * extent;
  if (most > nothing) chosen[2] = scores.first(s.count, nearly * most);
  if (least > nothing) chosen[3] = opposite.first(s.count, nearly * least);
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

int reduce(ContactPoint* p, int count, int most) {
  if (count <= most) return count;
  Spread s;
  s.count = std::min(count, Spread::room);
  for (int i = 0; i < s.count; ++i) s.set(i, p[i].position, p[i].distance);
  s.fill_up();
  int kept[usual_contact_points];
  const int left = choose(s, p[0].normal, kept);
  for (int i = 0; i < left; ++i) p[i] = p[kept[i]];
  return left;
}

}  // namespace articula::collision
