#pragma once
// Looking things up by name, with help for the misspelt.

#include <span>
#include <string>
#include <string_view>

namespace articula {

// "; did you mean 'left_knee' or 'left_hip'?", or the first known names when nothing is near.
std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace articula
