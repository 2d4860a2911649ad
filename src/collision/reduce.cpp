#include <algorithm>

#include "pairs.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// Of nearly equal scores the earlier point wins, so that rounding does not decide.
constexpr double bias = 1 + 1e-6;

double corner_area(Vec3 n, Vec3 a, Vec3 b, Vec3 c) { return dot(n, cross(b - a, c - a)); }

}  // namespace

// The point deepest by more than rounding, the one farthest from it, then those that add most area on either
// side of the line between the two.
int reduce(ContactPoint* p, int count) {
  if (count <= max_contact_points) return count;
  const Vec3 n = p[0].normal;
  double spread = 0;
  for (int i = 1; i < count; ++i) spread = std::max(spread, squared_norm(p[i].position - p[0].position));
  const double noise = 1e-6 * std::sqrt(spread);
  int chosen[4] = {0, -1, -1, -1};
  for (int i = 1; i < count; ++i)
    if (p[i].distance < p[chosen[0]].distance - noise) chosen[0] = i;
  const Vec3 first = p[chosen[0]].position;
  double best = 0;
  for (int i = 0; i < count; ++i) {
    const double length = squared_norm(p[i].position - first);
    if (length > best * bias) {
      best = length;
      chosen[1] = i;
    }
  }
  if (chosen[1] < 0) return 1;
  const Vec3 second = p[chosen[1]].position;
  double most = 0, least = 0;
  for (int i = 0; i < count; ++i) {
    const double area = corner_area(n, first, second, p[i].position);
    if (area > most * bias + 1e-12 * spread) {
      most = area;
      chosen[2] = i;
    }
    if (area < least * bias - 1e-12 * spread) {
      least = area;
      chosen[3] = i;
    }
  }
  // In the order they came, so that the choice does not reorder.
  std::sort(chosen, chosen + 4);
  int kept = 0;
  for (const int i : chosen)
    if (i >= 0) p[kept++] = p[i];
  return kept;
}

}  // namespace articula::collision
