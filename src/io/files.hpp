#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace articula {

// The whole file; an Error where it cannot be read, is a directory or exceeds the limit.
std::string read_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace articula
