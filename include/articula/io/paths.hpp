#pragma once

#include <filesystem>
#include <optional>

namespace articula {

/// Where the built-in models live. The first that exists of: the environment variable ARTICULA_MODELS, the
/// data directory of the installation that this code runs from, `models/` of the source tree it was built
/// from, the data directory of the prefix it was configured for. Throws Error when ARTICULA_MODELS names no
/// directory, or when there is none of the four.
std::filesystem::path models_directory();

/// Third-party robots, which are not ours to ship: the environment variable ARTICULA_SHARED_MODELS, else
/// `../shared/models` beside the source tree; nothing where that is absent.
/// Throws Error when ARTICULA_SHARED_MODELS names no directory.
std::optional<std::filesystem::path> shared_models_directory();

}  // namespace articula
