#include "cli/load_arguments.hpp"

#include <CLI/CLI.hpp>

namespace articula::cli {

LoadOptions LoadArguments::options() const {
  LoadOptions result;
  result.search_path.assign(search_path.begin(), search_path.end());
  result.floating_base = floating_base;
  result.srdf = srdf;
  result.keep_overlaps = keep_overlaps;
  result.visual_meshes = !no_visual_meshes;
  result.need_all_meshes = !skip_missing_meshes;
  return result;
}

void add_load_arguments(CLI::App& command, LoadArguments& arguments) {
  command
      .add_option("--search-path", arguments.search_path,
                  "A directory of packages and models; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("--floating-base", arguments.floating_base, "URDF: the root link moves freely");
  command.add_option("--srdf", arguments.srdf, "URDF: a file with pairs of links that never collide");
  command.add_flag("--keep-overlaps", arguments.keep_overlaps,
                   "URDF: links that overlap with all joints at zero collide all the same");
  command.add_flag("--no-visual-meshes", arguments.no_visual_meshes, "Leave out meshes that are only drawn");
  command.add_flag("--skip-missing-meshes", arguments.skip_missing_meshes,
                   "A collision mesh that is not found is a warning");
}

}  // namespace articula::cli
