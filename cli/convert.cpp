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
#include "cli/load_arguments.hpp"

namespace articula::cli {
namespace {

struct ConvertOptions {
  std::string input, output;
  LoadArguments load;
  bool json = false;
};

void convert(const ConvertOptions& options) {
  const std::filesystem::path output(options.output);
  if (output.extension() != ".xml" && output.extension() != ".mjcf") {
    throw Error("{}: MJCF is what is written; call the file something.xml", options.output);
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(options.input, output, ignored)) {
    throw Error("{} is the input itself; write to another file", options.output);
  }
  const Description description = describe(options.input, options.load.options());
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
  add_load_arguments(*command, options->load);
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->callback([options] { convert(*options); });
}

}  // namespace articula::cli
