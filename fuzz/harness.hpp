#pragma once
// What the fuzzers call, and what the tests call on the kept corpus. Bad input must end in an Error; anything
// else that goes wrong (another exception, a sanitizer's report, a crash) ends the process.

#include <string_view>

namespace articula::fuzz {

// A robot that may refer to no other file, as far as a Model; URDF and SDF also written as MJCF and read
// again.
void mjcf(std::string_view text);
void urdf(std::string_view text);
void sdf(std::string_view text);
// A mesh, its hull and its mass properties.
void stl(std::string_view bytes);
void obj(std::string_view text);

}  // namespace articula::fuzz
