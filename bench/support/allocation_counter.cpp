#include "bench/support/allocation_counter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

// Eigen allocates with malloc and posix_memalign, past operator new: only the C functions see everything.
// Symbols of an executable come before those of libc, so these definitions serve every library in the
// process; libc keeps the heap, hence its own `free` fits.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ARTICULA_UNDER_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ARTICULA_UNDER_SANITIZER
#endif
#if defined(__GLIBC__) && !defined(ARTICULA_UNDER_SANITIZER)
#define ARTICULA_COUNT_ALLOCATIONS
#endif

namespace articula::bench {
namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

std::uint64_t allocation_count() { return allocations.load(std::memory_order_relaxed); }

#ifdef ARTICULA_COUNT_ALLOCATIONS
bool counts_allocations() { return true; }
static void count_one() { allocations.fetch_add(1, std::memory_order_relaxed); }
#else
bool counts_allocations() { return false; }
#endif

}  // namespace articula::bench

#ifdef ARTICULA_COUNT_ALLOCATIONS
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  articula::bench::count_one();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  articula::bench::count_one();
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) noexcept {
  articula::bench::count_one();
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  articula::bench::count_one();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  articula::bench::count_one();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  articula::bench::count_one();
  void* fresh = __libc_memalign(alignment, size);
  if (fresh == nullptr) return ENOMEM;
  *block = fresh;
  return 0;
}

}  // extern "C"
#endif
