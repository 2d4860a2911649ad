#pragma once
// Robots by name or from a file, whatever its format.

#include <string>
#include <vector>

#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"

namespace articula {

// A file (recognised by its content), the name of a built-in model ("quadruped"), or "chainN", a
// pendulum of N links. The Error for what is none of these says what comes near.
Description describe(const std::string& name_or_path, const LoadOptions& options = {});

// build(describe(...))
Model load(const std::string& name_or_path, const LoadOptions& options = {});

// The built-in models, in alphabetical order; chains are not among them.
std::vector<std::string> model_names();

// N rods of 0.1 m and 0.2 kg, each hinged to the end of the one before, about y and x in turn.
Description chain(int links);

}  // namespace articula
