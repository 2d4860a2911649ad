#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace articula {

// The whole file; an Error where it cannot be read, is a directory or exceeds the limit.
std::string read_file(const std::filesystem::path& path, std::size_t limit);

// Up to `most` bytes of its beginning, enough to tell what it is.
std::string read_beginning(const std::filesystem::path& path, std::size_t most);

// What the text is in truth, where it is none of ours: "UTF-16 text; save it as UTF-8"; "" where nothing
// gives it away.
std::string disguise(std::string_view text);

}  // namespace articula
