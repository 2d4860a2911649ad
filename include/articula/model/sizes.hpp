#pragma once
// Arguments of the wrong size are refused before anything is computed.

#include <fmt/format.h>

#include "articula/error.hpp"

namespace articula {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_size(const char* what, long given, long expected) {
  throw Error(fmt::format("{} has {} numbers, {} are needed", what, given, expected));
}

inline void require_size(const char* what, long given, long expected) {
  if (given != expected) throw_size(what, given, expected);
}

}  // namespace articula
