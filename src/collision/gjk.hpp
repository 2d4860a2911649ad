#pragma once
// Distance of two convex cores (Gilbert, Johnson and Keerthi).

#include "support.hpp"

namespace articula::collision {

enum class GjkStatus { separated, touching, beyond };

struct GjkResult {
  GjkStatus status = GjkStatus::separated;
  DifferencePoint simplex[4];
  double weight[4] = {0, 0, 0, 0};  // of each simplex point in the point nearest to the origin
  int count = 0;
  Vec3 v;                 // point of A - B nearest to the origin
  double distance = 0.0;  // |v|
  double lower = 0.0;     // proven lower bound of the distance
  double gap = 0.0;       // |v| minus the separation along v
  int iterations = 0;
  // The last point before the simplex closed around the origin: where a shallow overlap is to be looked for.
  Vec3 last_v, last_a, last_b;
};

// Runs until the distance is known to `tolerance`, the cores touch (distance below 1e-11 of their size), or
// it is proven to exceed `margin`. Resumes from `result` if that holds a simplex already.
void gjk(const ConvexPair& pair, double margin, double tolerance, GjkResult& result);

}  // namespace articula::collision
