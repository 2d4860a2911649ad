#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "articula/io/paths.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"

namespace articula::cli {
namespace {

namespace fs = std::filesystem;

/// Every model file below the directory, in alphabetical order.
std::vector<fs::path> model_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".xml" || extension == ".urdf" || extension == ".sdf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void list_models(bool json) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  Table table({{"model"}, {"file"}});
  for (const fs::path& file : model_files(models_directory())) {
    models.push_back({{"name", file.stem().string()}, {"file", file.string()}});
    table.add({file.stem().string(), file.string()});
  }
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"models", models}}.dump(2));
  } else {
    fmt::print("{}", table.to_text());
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
