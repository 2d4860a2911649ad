#include <algorithm>

#include "pairs.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

// Of nearly equal scores the earlier point wins, so that rounding does not decide.
constexpr double bias = 1 + 1e-6;

}  // namespace

// The point deepest by more than rounding, the one farthest from it, then those that add most area on either
// side of the line between the two.
int choose(const Vec3* x, const double* distance, int count, Vec3 n, int* kept) {
  if (count <= max_contact_points) {
    for (int i = 0; i < count; ++i) kept[i] = i;
    return count;
  }
  double spread = 0;
  for (int i = 1; i < count; ++i) spread = std::max(spread, squared_norm(x[i] - x[0]));
  const double noise = 1e-6 * std::sqrt(spread);
  int chosen[4] = {0, -1, -1, -1};
  for (int i = 1; i < count; ++i)
    if (distance[i] < distance[chosen[0]] - noise) chosen[0] = i;
  const Vec3 first = x[chosen[0]];
  double best = 0;
  for (int i = 0; i < count; ++i) {
    const double length = squared_norm(x[i] - first);
    if (length > best * bias) {
      best = length;
      chosen[1] = i;
    }
  }
  if (chosen[1] < 0) {
    kept[0] = chosen[0];
    return 1;
  }
  // Twice the area of (first, second, x): n . (side x (x - first)) = (n x side) . (x - first)
  const Vec3 across = cross(n, x[chosen[1]] - first);
  double most = 0, least = 0;
  for (int i = 0; i < count; ++i) {
    const double area = dot(across, x[i] - first);
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
  int left = 0;
  for (const int i : chosen)
    if (i >= 0) kept[left++] = i;
  return left;
}

int reduce(ContactPoint* p, int count) {
  if (count <= max_contact_points) return count;
  constexpr int room = 64;
  Uncleared<Vec3, room> storage;
  Vec3* x = storage.data();
  double distance[room];
  count = std::min(count, room);
  for (int i = 0; i < count; ++i) {
    x[i] = p[i].position;
    distance[i] = p[i].distance;
  }
  int kept[max_contact_points];
  const int left = choose(x, distance, count, p[0].normal, kept);
  for (int i = 0; i < left; ++i) p[i] = p[kept[i]];
  return left;
}

}  // namespace articula::collision
