#include "differences.hpp"

#include <limits>
#include <vector>

#include "articula/kinematics/manifold.hpp"

namespace articula::testing {

VectorX ridders(const std::function<VectorX(double)>& f, double first_step) {
  constexpr int columns = 10;
  constexpr double shrink = 1.4, shrink2 = shrink * shrink;
  std::vector<VectorX> previous, row;
  VectorX best;
  double best_error = std::numeric_limits<double>::infinity();
  double step = first_step;
  for (int i = 0; i < columns; ++i, step /= shrink) {
    row.assign(1, (f(step) - f(-step)) / (2.0 * step));
    if (i == 0) best = row[0];
    double factor = shrink2;
    for (int j = 1; j <= i; ++j, factor *= shrink2) {
      row.push_back((row[j - 1] * factor - previous[j - 1]) / (factor - 1.0));
      const double error = std::max((row[j] - row[j - 1]).cwiseAbs().maxCoeff(),
                                    (row[j] - previous[j - 1]).cwiseAbs().maxCoeff());
      if (error < best_error) best_error = error, best = row[j];
    }
    previous = row;
  }
  return best;
}

MatrixX ridders_jacobian(const std::function<VectorX(const VectorX&)>& f, const VectorX& x,
                         double first_step) {
  MatrixX J(f(x).size(), x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    J.col(i) = ridders([&](double t) { return f(x + t * VectorX::Unit(x.size(), i)); }, first_step);
  }
  return J;
}

MatrixX ridders_tangent(const Model& model, const std::function<VectorX(const VectorX&)>& f, const VectorX& q,
                        double first_step) {
  MatrixX J(f(q).size(), model.nv());
  VectorX moved(model.nq());
  for (int d = 0; d < model.nv(); ++d) {
    J.col(d) = ridders(
        [&](double t) {
          integrate(model, q, VectorX::Unit(model.nv(), d), t, moved);
          return f(moved);
        },
        first_step);
  }
  return J;
}

}  // namespace articula::testing
