#pragma once

namespace articula {

/// The one home of the version: CMake reads it from this line.
inline constexpr const char* version = "0.1.0";

}  // namespace articula
