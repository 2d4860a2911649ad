#pragma once
// The arguments that say how a model file is to be read, the same for every command that reads one.

#include <string>
#include <vector>

#include "articula/io/load_options.hpp"

namespace CLI {
class App;
}

namespace articula::cli {

struct LoadArguments {
  std::vector<std::string> search_path;
  std::string srdf;
  bool floating_base = false, keep_overlaps = false, no_visual_meshes = false, skip_missing_meshes = false;

  LoadOptions options() const;
};

// `arguments` must outlive the parsing.
void add_load_arguments(CLI::App& command, LoadArguments& arguments);

}  // namespace articula::cli
