#pragma once
// MJCF, MuJoCo's model files.
//
// What is read means what it means in MuJoCo 4. Attributes that shape soft contact (solref, solimp,
// ...) have no meaning in hard contact and are named in one warning; unknown elements and attributes
// are a warning each; what cannot be represented and would change the motion (muscles, plugins,
// deformables, spatial tendons that pull, ...) is an Error. Every message begins with file and line.

#include <filesystem>
#include <string_view>

#include "articula/io/load_options.hpp"
#include "articula/model/description.hpp"

namespace articula {

Description load_mjcf(const std::filesystem::path& file, const LoadOptions& options = {});

// Files that the text refers to are looked up relative to `directory`.
Description parse_mjcf(std::string_view text, const std::filesystem::path& directory = {},
                       const LoadOptions& options = {});

}  // namespace articula
