#pragma once

#include <cstdint>

namespace articula::bench {

/// Whether this binary counts allocations: not under a sanitizer, which owns malloc itself, and only with
/// glibc.
bool counts_allocations();

/// Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign and memalign so far, on all threads.
std::uint64_t allocation_count();

/// Allocations since construction, on all threads, so that work handed to another thread is counted as well.
class AllocationScope {
 public:
  AllocationScope() : begin_(allocation_count()) {}
  std::uint64_t count() const { return allocation_count() - begin_; }

 private:
  std::uint64_t begin_;
};

}  // namespace articula::bench
