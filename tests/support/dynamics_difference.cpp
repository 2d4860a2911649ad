#include "tests/support/dynamics_difference.hpp"

#include <algorithm>
#include <random>

#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/rnea.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/steppers/step.hpp"

namespace articula::testing {

namespace {

template <class A, class B>
double relative_difference(const A& a, const B& b) {
  return a.size() == 0 ? 0.0 : (a - b).cwiseAbs().maxCoeff() / std::max(1.0, a.cwiseAbs().maxCoeff());
}

}  // namespace

double dynamics_difference(const Model& a, const Model& b) {
  if (a.nv() != b.nv() || a.nq() != b.nq()) return 1.0;
  const int nv = a.nv();
  Data data_a(a), data_b(b);
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  const auto random = [&] { return VectorX(VectorX::NullaryExpr(nv, [&] { return normal(generator); })); };
  double worst = relative_difference(neutral_state(a).q, neutral_state(b).q);
  for (int i = 0; i < 50; ++i) {
    VectorX q = neutral_state(a).q, c_a(nv), c_b(nv);
    const VectorX step = random(), v = random();
    integrate(a, q, step, 1.0, q);
    MatrixX M_a(nv, nv), M_b(nv, nv);
    crba(a, data_a, q), dense_mass_matrix(a, data_a, M_a);
    crba(b, data_b, q), dense_mass_matrix(b, data_b, M_b);
    bias_forces(a, data_a, q, v, c_a);
    bias_forces(b, data_b, q, v, c_b);
    if (nv == 0) continue;
    const double scale = M_a.cwiseAbs().maxCoeff();
    worst = std::max({worst, (M_a - M_b).cwiseAbs().maxCoeff() / scale, relative_difference(c_a, c_b)});
  }
  return worst;
}

}  // namespace articula::testing
