#pragma once
// `articula bench collision`: narrow phase by pair and whole collision stages, beside MuJoCo on the same
// poses.

#include <string>
#include <vector>

namespace articula::bench {

struct Figure {
  std::string name;
  double value;
  std::string unit;
};

struct CollisionFigures {
  std::vector<Figure> figures;
  std::vector<std::string> notes;
};

// `full`: more poses and repeats.
CollisionFigures measure_collision(bool full);

}  // namespace articula::bench
