#include "differences.hpp"

#include "articula/kinematics/manifold.hpp"

namespace articula::testing {

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
