#pragma once
// `articula bench load`: from the file on disk to a model that is ready, for every built-in model, a
// generated file of 1000 bodies and generated meshes of many triangles.

#include <string>
#include <vector>

namespace articula::bench {

struct LoadFigure {
  std::string name;
  double value;
  std::string unit;
};

struct LoadFigures {
  std::vector<LoadFigure> figures;
  std::vector<std::string> notes;
};

// `full`: more repeats, and meshes of 1e6 triangles.
LoadFigures measure_load(bool full);

}  // namespace articula::bench
