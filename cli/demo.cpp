#include <fmt/format.h>

#include "articula/version.hpp"
#include "cli/command.hpp"

namespace articula::cli {

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "Show what the engine does, with figures from this machine");
  command->callback([] { fmt::print("articula {}\n", version); });
}

}  // namespace articula::cli
