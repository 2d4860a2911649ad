#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"

namespace articula::cli {
namespace {

void list_models(bool json) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  Table table({{"model"}, {"nv", Align::right}, {"controls", Align::right}, {"mass, kg", Align::right}});
  for (const std::string& name : model_names()) {
    const Model model = load(name);
    table.add({name, fmt::to_string(model.nv()), fmt::to_string(model.nu()),
               fmt::format("{:.3f}", model.total_mass())});
    models.push_back(
        {{"name", name}, {"nv", model.nv()}, {"controls", model.nu()}, {"mass", model.total_mass()}});
  }
  const std::string directory = models_directory().string();
  if (json) {
    const nlohmann::ordered_json object{{"directory", directory}, {"models", models}};
    fmt::print("{}\n", object.dump(2));
  } else {
    fmt::print("{}\nin {}; also chainN, a pendulum of N links\n", table.to_text(), directory);
  }
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "List the built-in models");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "For machines: one JSON object");
  command->callback([json] { list_models(*json); });
}

}  // namespace articula::cli
