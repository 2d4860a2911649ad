#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "cli/command.hpp"

namespace articula::cli {
namespace {

struct ConvertOptions {
  std::string input, output, srdf;
  std::vector<std::string> search_path;
  bool floating_base = false, no_visual_meshes = false, skip_missing_meshes = false, json = false;
};

LoadOptions load_options(const ConvertOptions& options) {
  LoadOptions result;
  result.search_path.assign(options.search_path.begin(), options.search_path.end());
  result.floating_base = options.floating_base;
  result.srdf = options.srdf;
  result.visual_meshes = !options.no_visual_meshes;
  result.need_all_meshes = !options.skip_missing_meshes;
  return result;
}

void convert(const ConvertOptions& options) {
  const std::filesystem::path output(options.output);
  if (output.extension() != ".xml" && output.extension() != ".mjcf") {
    throw Error("{}: MJCF is what is written; call the file something.xml", options.output);
  }
  const Description description = describe(options.input, load_options(options));
  const Model model = build(description);  // refuses what could be written, but not simulated
  save_mjcf(description, output);
  if (options.json) {
    const nlohmann::ordered_json object{{"input", options.input},
                                        {"output", options.output},
                                        {"nq", model.nq()},
                                        {"nv", model.nv()},
                                        {"controls", model.nu()},
                                        {"mass", model.total_mass()},
                                        {"warnings", description.warnings}};
    fmt::print("{}\n", object.dump(2));
    return;
  }
  for (const std::string& warning : description.warnings) fmt::print(stderr, "warning: {}\n", warning);
  fmt::print("{}: {} bodies, {} degrees of freedom, {} controls, {:.3f} kg\n", options.output,
             description.bodies.size(), model.nv(), model.nu(), model.total_mass());
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command = app.add_subcommand("convert", "Write a model (MJCF, URDF, SDF or built-in) as MJCF");
  const auto options = std::make_shared<ConvertOptions>();
  command->add_option("IN", options->input, "A model file, or the name of a built-in model")->required();
  command->add_option("OUT", options->output, "The file to write, something.xml")->required();
  command->add_option("--search-path", options->search_path, "Directories of packages and models");
  command->add_flag("--floating-base", options->floating_base, "URDF: the root link moves freely");
  command->add_option("--srdf", options->srdf, "URDF: a file with pairs of links that never collide");
  command->add_flag("--no-visual-meshes", options->no_visual_meshes, "Leave out meshes that are only drawn");
  command->add_flag("--skip-missing-meshes", options->skip_missing_meshes,
                    "A collision mesh that is not found is a warning");
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->callback([options] { convert(*options); });
}

}  // namespace articula::cli
