#pragma once
// A file that may be broken, read in a process of its own, so that its memory is its own.

#include <string>

namespace articula::testing {

struct LoadAttempt {
  std::string message;                    // of the Error; empty: it was loaded and built
  double seconds = 0.0, megabytes = 0.0;  // of processor time: the machine may be shared
};

LoadAttempt attempt_to_load(const std::string& file);

// A refusal takes less than a second and 200 MB, and its message does not flood the screen. Under the address
// sanitizer, which is slow and keeps what is freed, ten seconds and any memory.
void expect_within_limits(const LoadAttempt& attempt);

}  // namespace articula::testing
