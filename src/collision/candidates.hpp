#pragma once
// Which features of a shape a nearest point may lie on, likeliest first.

#include "features.hpp"

namespace articula::collision {

struct Candidates {
  Feature list[8];
  int count = 0;
  void add(Feature f) {
    for (int i = 0; i < count; ++i)
      if (list[i] == f) return;
    if (count < 8) list[count++] = f;
  }
};

// What an iteration knows about its end on one shape, in that shape's frame.
struct Ending {
  Vec3 x, n;        // point and outward direction
  int vertices[4];  // of polyhedral cores, those that carry weight, heaviest first
  int count = 0;
};

Candidates candidates(const Shape& shape, const Ending& ending);
// The first of them.
Feature likeliest(const Shape& shape, const Ending& ending);

// Whether a point found on the unbounded feature lies on the shape.
bool lies_on(const Shape& shape, Feature feature, Vec3 x, double tolerance);

}  // namespace articula::collision
