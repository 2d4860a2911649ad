#include "articula/math/fixed_point.hpp"

#include <algorithm>

namespace articula {

void FixedPoint::reserve(int size) {
  for (Pair& pair : pairs_) {
    pair.image.reserve(size);
    pair.change.reserve(size);
  }
}

// theta = argmin |r - sum theta_j (r - r_j)|, r = F(x) - x;  next = F - sum theta_j (F - F_j)
// The matrix of these least squares is made a little larger on its diagonal: changes that are nearly parallel
// say nothing new.
void FixedPoint::advance(const std::vector<double>& x, std::vector<double>& image) {
  constexpr double parallel = 1e-10;
  const int n = static_cast<int>(x.size()), others = known_;
  Pair& now = pairs_[newest_];
  now.image.assign(image.begin(), image.end());
  now.change.resize(n);
  for (int i = 0; i < n; ++i) now.change[i] = image[i] - x[i];
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_known, most_known> products(others, others);
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_known, 1> theta(others);
  for (int j = 0; j < others; ++j) {
    const std::vector<double>& rj = before(j).change;
    theta[j] = 0.0;
    for (int i = 0; i < n; ++i) theta[j] += now.change[i] * (now.change[i] - rj[i]);
    for (int k = 0; k <= j; ++k) {
      const std::vector<double>& rk = before(k).change;
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += (now.change[i] - rj[i]) * (now.change[i] - rk[i]);
      products(j, k) = products(k, j) = sum;
    }
  }
  const double trace = others > 0 ? products.trace() : 0.0;
  if (trace > 0.0) {
    products.diagonal().array() += parallel * trace;
    products.ldlt().solveInPlace(theta);
    for (int j = 0; j < others; ++j) {
      const std::vector<double>& fj = before(j).image;
      for (int i = 0; i < n; ++i) image[i] -= theta[j] * (now.image[i] - fj[i]);
    }
  }
  known_ = std::min(known_ + 1, most_known - 1);
  newest_ = (newest_ + 1) % most_known;
}

}  // namespace articula
