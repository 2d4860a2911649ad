#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "articula/error.hpp"
#include "articula/version.hpp"

namespace articula::cli {
namespace {

constexpr int success = 0;
constexpr int failure = 1;
constexpr int bad_input = 2;

int complain(int code, const char* message) {
  fmt::print(stderr, "articula: {}\n", message);
  return code;
}

int dispatch(int argc, const char* const* argv) {
  CLI::App app("Differentiable physics of articulated rigid bodies with contact.", "articula");
  app.set_version_flag("--version", version);
  app.require_subcommand(1);
#define ARTICULA_ADD(name) add_##name(app);
  ARTICULA_COMMANDS(ARTICULA_ADD)
#undef ARTICULA_ADD
  try {
    app.parse(argc, argv);
    return success;
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = app.exit(error) == 0;  // prints the help or the complaint
    return asked_for_help ? success : bad_input;
  } catch (const Error& error) {
    return complain(bad_input, error.what());
  } catch (const std::exception& error) {
    return complain(failure, error.what());
  }
}

}  // namespace

// What was printed may still be in a buffer: whether it arrived is known only once that is empty.
int run(int argc, const char* const* argv) {
  const int code = dispatch(argc, argv);
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(code == success ? failure : code, "standard output could not be written in full");
}

}  // namespace articula::cli
