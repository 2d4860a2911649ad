#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "bench/support/allocation_counter.hpp"

/// At the start of a test that counts allocations: says loudly where counting is impossible (a sanitizer owns
/// malloc).
#define SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED() \
  if (!articula::bench::counts_allocations()) \
  GTEST_SKIP() << "malloc cannot be counted in this build (sanitizer)"

namespace articula::testing {

/// Calls to malloc and its kin while `work` runs, on all threads.
template <class Work>
std::uint64_t allocations_during(Work&& work) {
  const bench::AllocationScope scope;
  work();
  return scope.count();
}

}  // namespace articula::testing
