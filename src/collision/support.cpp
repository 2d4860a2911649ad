#include "support.hpp"

namespace articula::collision {

// Four vertices at a time; of equal ones the first wins.
int support_scan(const Hull& hull, Vec3 d) {
  const int groups = static_cast<int>(hull.x.size()) / 4;
  const Lanes dx = broadcast(d[0]), dy = broadcast(d[1]), dz = broadcast(d[2]);
  Lanes best = broadcast(-INFINITY), which = broadcast(0.0);
  for (int g = 0; g < groups; ++g) {
    const Lanes value = load4(&hull.x[4 * g]) * dx + load4(&hull.y[4 * g]) * dy + load4(&hull.z[4 * g]) * dz;
    const auto better = value > best;
    best = better ? value : best;
    which = better ? broadcast(g) : which;
  }
  int lane = 0;
  for (int i = 1; i < 4; ++i)
    if (best[i] > best[lane] || (best[i] == best[lane] && which[i] < which[lane])) lane = i;
  const int v = 4 * static_cast<int>(which[lane]) + lane;
  return v < hull.vertex_count() ? v : hull.vertex_count() - 1;
}

}  // namespace articula::collision
