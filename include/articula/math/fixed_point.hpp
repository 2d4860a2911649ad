#pragma once
// The fixed point x = F(x) of a map that contracts slowly: of the last few x and F(x), the combination whose
// F(x) - x is smallest leads on (Anderson's acceleration).

#include <array>
#include <vector>

#include "articula/math/types.hpp"

namespace articula {

class FixedPoint {
 public:
  void reserve(int size);
  void forget() { known_ = 0; }
  // `image` is F(x), and becomes the next x to try.
  void advance(const std::vector<double>& x, std::vector<double>& image);

 private:
  static constexpr int most_known = 6;
  struct Pair {
    std::vector<double> image, change;  // F(x), F(x) - x
  };
  const Pair& before(int j) const { return pairs_[(newest_ + most_known - 1 - j) % most_known]; }

  std::array<Pair, most_known> pairs_;
  int newest_ = 0;  // where the next pair is written
  int known_ = 0;   // pairs before it
};

}  // namespace articula
