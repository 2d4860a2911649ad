#include "articula/io/paths.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <system_error>

#include "articula/error.hpp"

namespace articula {
namespace {

namespace fs = std::filesystem;

bool exists_as_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::optional<fs::path> directory_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  if (!exists_as_directory(value)) throw Error("{}={}: there is no such directory", variable, value);
  return fs::path(value);
}

/// The directory of the executable or shared library that this function was linked into. Both `bin/` and
/// `lib/` lie one level below the installation prefix; a multiarch `lib/x86_64-linux-gnu/` lies two below.
fs::path own_directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code failed;
  fs::path self = fs::canonical(info.dli_fname, failed);
  if (failed) self = fs::canonical("/proc/self/exe", failed);  // argv[0] found on PATH is no path
  return failed ? fs::path() : self.parent_path();
}

}  // namespace

fs::path models_directory() {
  if (auto chosen = directory_from_environment("ARTICULA_MODELS")) return *chosen;
  const fs::path prefix = own_directory().parent_path();
  const fs::path installed = fs::path("share") / "articula" / "models";
  const std::array candidates{prefix / installed, prefix.parent_path() / installed,
                              fs::path(ARTICULA_SOURCE_DIR) / "models",
                              fs::path(ARTICULA_INSTALLED_DATA) / "models"};
  for (const fs::path& candidate : candidates) {
    if (exists_as_directory(candidate)) return candidate;
  }
  std::string tried;
  for (const fs::path& candidate : candidates) tried += "\n  " + candidate.string();
  throw Error("the built-in models are missing; set ARTICULA_MODELS to their directory. Tried:{}", tried);
}

std::optional<fs::path> shared_models_directory() {
  if (auto chosen = directory_from_environment("ARTICULA_SHARED_MODELS")) return chosen;
  const fs::path beside = fs::path(ARTICULA_SOURCE_DIR).parent_path() / "shared" / "models";
  return exists_as_directory(beside) ? std::optional(beside) : std::nullopt;
}

}  // namespace articula
