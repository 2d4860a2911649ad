#pragma once
// How many cases a test takes.

#include <cstdlib>

namespace articula::testing {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

// `full` with ARTICULA_FULL=1. Under the sanitizers a fifth of the usual: they look for mistakes with memory,
// which few cases show, and are ten times slower; numbers are checked without them.
inline int cases(int usual, int full) {
  if (std::getenv("ARTICULA_FULL") != nullptr) return full;
  return sanitized ? (usual + 4) / 5 : usual;
}

}  // namespace articula::testing
