#pragma once

#include <stdexcept>

namespace CLI {
class App;
}

namespace articula::cli {

// A command is one file `cli/NAME.cpp` that defines `void add_NAME(CLI::App& app)`, plus one line here. The
// line's position is its position in `articula --help`.
#define ARTICULA_COMMANDS(COMMAND) \
  COMMAND(bench)                   \
  COMMAND(check_gradients)         \
  COMMAND(convert)                 \
  COMMAND(demo)                    \
  COMMAND(info)                    \
  COMMAND(models)                  \
  COMMAND(reproduce)               \
  COMMAND(simulate)

#define ARTICULA_DECLARE(name) void add_##name(CLI::App& app);
ARTICULA_COMMANDS(ARTICULA_DECLARE)
#undef ARTICULA_DECLARE

/// A command that ran on good input and found its answer to be "no" (a check that failed): exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The whole program. Exit code 0 on success, 2 for bad input (articula::Error, or arguments that do not
/// parse), 1 for anything else, also where standard output cannot be written.
int run(int argc, const char* const* argv);

}  // namespace articula::cli
