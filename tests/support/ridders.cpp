#include "ridders.hpp"

#include <limits>
#include <vector>

namespace articula::testing {

VectorX ridders(const std::function<VectorX(double)>& f, double step) {
  constexpr int levels = 10;
  constexpr double shrink2 = 2.0;  // square of the step's shrink factor
  std::vector<VectorX> previous, current;
  current.reserve(levels);  // references into it stay valid
  VectorX best, error;
  double h = step;
  for (int level = 0; level < levels; ++level, h /= std::sqrt(shrink2)) {
    current.assign(1, (f(h) - f(-h)) / (2.0 * h));
    double factor = shrink2;
    for (int k = 1; k <= level; ++k, factor *= shrink2) {
      const VectorX& coarse = previous[static_cast<size_t>(k - 1)];
      const VectorX& fine = current[static_cast<size_t>(k - 1)];
      current.push_back((fine * factor - coarse) / (factor - 1.0));
      if (k < 2) continue;  // one extrapolation may agree by chance
      const VectorX estimate =
          (current.back() - fine).cwiseAbs().cwiseMax((current.back() - coarse).cwiseAbs());
      if (error.size() == 0) {
        error = estimate;
        best = current.back();
        continue;
      }
      for (Eigen::Index i = 0; i < best.size(); ++i) {
        if (estimate[i] < error[i]) error[i] = estimate[i], best[i] = current.back()[i];
      }
    }
    previous = current;
  }
  return best;
}

double relative_error(const MatrixX& A, const MatrixX& R) {
  if (A.size() == 0) return 0.0;
  const double floor = std::max(1e-3 * R.cwiseAbs().maxCoeff(), 1e-9);
  return ((A - R).cwiseAbs().array() / R.cwiseAbs().array().max(floor)).maxCoeff();
}

}  // namespace articula::testing
