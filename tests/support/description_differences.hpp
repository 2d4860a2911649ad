#pragma once

#include <string>
#include <vector>

#include "articula/model/description.hpp"

namespace articula::testing {

// Every respect in which two descriptions differ, in words: names and counts exactly, numbers by more than
// `tolerance` relative to their size (or to one). Places in files, warnings and mesh files do not count.
std::vector<std::string> differences(const Description& a, const Description& b, double tolerance);

}  // namespace articula::testing
