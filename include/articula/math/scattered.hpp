#pragma once
// Numbers without a pattern, for vectors that are nothing special: sums of multiples of one number, however
// irrational, cancel where rows do (the four corners of a box).

#include <cstdint>

namespace articula {

// The k-th of them, in [0, 1): the bits of k, mixed (splitmix64).
inline double scattered(std::uint64_t k) {
  std::uint64_t x = (k + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace articula
