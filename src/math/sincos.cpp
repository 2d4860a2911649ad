#include "articula/math/sincos.hpp"

#include <cmath>
#include <cstring>

#include "articula/math/vec3.hpp"

namespace articula {

namespace {

// Beyond this the three-part reduction below loses digits; the C library takes over.
constexpr double largest_reduced = 1e5;

// pi/2 in three parts, the first two with 33 significant bits: k times each is exact for the
// multiples k that `largest_reduced` allows.
constexpr double half_pi_high = 0x1.921fb544p+0;
constexpr double half_pi_middle = 0x1.0b4611a6p-34;
constexpr double half_pi_low = 0x1.3198a2e037073p-69;

// sin r = r - r^3/3! + ..., cos r = 1 - r^2/2! + ... on |r| <= pi/4: the first term left out is
// below 1e-19. `rest` is what the reduced angle has beyond r's last place.
Lanes sine_series(Lanes r, Lanes rest) {
  const Lanes s = r * r;
  Lanes sum = broadcast(1.0 / 355687428096000.0);    // 17!
  sum = sum * s - broadcast(1.0 / 1307674368000.0);  // 15!
  sum = sum * s + broadcast(1.0 / 6227020800.0);     // 13!
  sum = sum * s - broadcast(1.0 / 39916800.0);       // 11!
  sum = sum * s + broadcast(1.0 / 362880.0);         // 9!
  sum = sum * s - broadcast(1.0 / 5040.0);           // 7!
  sum = sum * s + broadcast(1.0 / 120.0);            // 5!
  sum = sum * s - broadcast(1.0 / 6.0);              // 3!
  return r + (r * s * sum + rest * (broadcast(1.0) - broadcast(0.5) * s));
}

Lanes cosine_series(Lanes r, Lanes rest) {
  const Lanes s = r * r;
  Lanes sum = -broadcast(1.0 / 6402373705728000.0);   // 18!
  sum = sum * s + broadcast(1.0 / 20922789888000.0);  // 16!
  sum = sum * s - broadcast(1.0 / 87178291200.0);     // 14!
  sum = sum * s + broadcast(1.0 / 479001600.0);       // 12!
  sum = sum * s - broadcast(1.0 / 3628800.0);         // 10!
  sum = sum * s + broadcast(1.0 / 40320.0);           // 8!
  sum = sum * s - broadcast(1.0 / 720.0);             // 6!
  sum = sum * s + broadcast(1.0 / 24.0);              // 4!
  // 1 - s/2 carries a rounding error that is known exactly and put back.
  const Lanes half = broadcast(0.5) * s;
  const Lanes head = broadcast(1.0) - half;
  const Lanes lost = (broadcast(1.0) - head) - half;
  return head + (lost + s * s * sum - r * rest);
}

// angle = k pi/2 + r:  the quadrant k mod 4 swaps sine and cosine and sets their signs.
void sincos4(Lanes angle, Lanes& sine, Lanes& cosine) {
  using Integers = long long __attribute__((vector_size(32)));
  const Lanes rounder = broadcast(0x1.8p52);  // adding it leaves the nearest integer in the low bits
  const Lanes shifted = angle * broadcast(2.0 / M_PI) + rounder;
  const Lanes k = shifted - rounder;
  Integers quadrant;
  std::memcpy(&quadrant, &shifted, sizeof quadrant);
  // The first difference is exact; the other two leave a rest below the last place.
  const Lanes high = angle - k * broadcast(half_pi_high);
  const Lanes middle = high - k * broadcast(half_pi_middle);
  const Lanes r = middle - k * broadcast(half_pi_low);
  const Lanes rest =
      ((high - middle) - k * broadcast(half_pi_middle)) + ((middle - r) - k * broadcast(half_pi_low));
  const Lanes s = sine_series(r, rest), c = cosine_series(r, rest);
  const Integers swap = (quadrant & 1) != 0;
  const Integers sine_negative = (quadrant & 2) != 0;
  const Integers cosine_negative = ((quadrant + 1) & 2) != 0;
  const Lanes swapped_sine = swap ? c : s, swapped_cosine = swap ? s : c;
  sine = sine_negative ? -swapped_sine : swapped_sine;
  cosine = cosine_negative ? -swapped_cosine : swapped_cosine;
}

}  // namespace

void sincos(std::span<const double> angle, double* sine, double* cosine) {
  const size_t count = angle.size();
  for (size_t i = 0; i < count; i += 4) {
    const size_t lanes = count - i < 4 ? count - i : 4;
    Lanes a{}, s, c;
    bool small = true;
    for (size_t k = 0; k < lanes; ++k) {
      a[k] = angle[i + k];
      small = small && std::abs(angle[i + k]) < largest_reduced;
    }
    if (small) {
      sincos4(a, s, c);
    } else {
      for (size_t k = 0; k < 4; ++k) s[k] = std::sin(a[k]), c[k] = std::cos(a[k]);
    }
    std::memcpy(sine + i, &s, sizeof s);
    std::memcpy(cosine + i, &c, sizeof c);
  }
}

}  // namespace articula
