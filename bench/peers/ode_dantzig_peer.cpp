// ODE's Dantzig solver behind boxed_lcp.h. ODE writes A x = b + w, pads rows, and destroys its input.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/peers/boxed_lcp.h"
#include "dart/external/odelcpsolver/lcp.h"

int articula_boxed_lcp(int n, const double* A, const double* b, const double* low, const double* high,
                       const int* normal, double* x) {
  const int stride = dPAD(n);
  thread_local std::vector<double> matrix, right, w, lower, upper;
  thread_local std::vector<int> index;
  matrix.assign(static_cast<std::size_t>(n) * stride, 0.0);
  for (int i = 0; i < n; ++i)
    std::copy(A + i * n, A + (i + 1) * n, &matrix[static_cast<std::size_t>(i) * stride]);
  right.resize(n);
  std::transform(b, b + n, right.begin(), [](double value) { return -value; });
  lower.assign(low, low + n);
  upper.assign(high, high + n);
  index.assign(normal, normal + n);
  w.assign(n, 0.0);
  std::fill(x, x + n, 0.0);
  return dart::external::ode::dSolveLCP(n, matrix.data(), x, right.data(), w.data(), 0, lower.data(),
                                        upper.data(), index.data(), true);
}
