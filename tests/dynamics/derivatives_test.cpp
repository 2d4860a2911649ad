// Derivatives of inverse and forward dynamics against Ridders' differences, and their products
// against the Jacobians.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/forward_derivatives.hpp"
#include "articula/kinematics/manifold.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::derivatives_test {
namespace {

constexpr double tolerance = 1e-7;
constexpr double product_tolerance = 1e-11;

struct DerivativeCase {
  std::mt19937 random;
  Model model;
  Data data;
  RandomState state;
  VectorX tau;
  ExternalWrenches external;
  DynamicsOptions options;

  explicit DerivativeCase(Model built, int seed)
      : random(static_cast<unsigned>(seed) + 77),
        model(std::move(built)),
        data(model),
        state(random_state(model, random)),
        tau(uniform_vector(random, model.nv(), 10.0)),
        external(Matrix6X::Zero(6, model.nbody())) {
    for (int b = 1; b < model.nbody(); ++b) external.col(b) = uniform_vector(random, 6, 5.0);
    if (seed % 2 == 1) options.external = &external;
    if (seed % 3 == 1) options.gyroscopic_step = 0.01;
  }
  DerivativeCase(const DerivativeCase&) = delete;

  static Model tree(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    return random_model(random, {.bodies = 1 + seed % 12, .chain = seed % 10 == 9});
  }

  int nv() const { return model.nv(); }
  VectorX moved(const VectorX& direction, double t) const {
    VectorX q(model.nq());
    integrate(model, state.q, direction, t, q);
    return q;
  }
  VectorX inverse(const VectorX& q, const VectorX& v, const VectorX& a) {
    VectorX out(nv());
    rnea(model, data, q, v, a, out, options);
    return out;
  }
  VectorX forward(const VectorX& q, const VectorX& v, const VectorX& force) {
    VectorX out(nv());
    EXPECT_TRUE(aba(model, data, q, v, force, out, options));
    return out;
  }
  // The Jacobian of f(direction, t) with respect to t along every unit direction.
  // (Forces are quadratic in v, accelerations linear in tau: a large step is exact and quiet there.)
  template <class Along>
  MatrixX jacobian(Along f, double step = 2e-2) const {
    MatrixX J(nv(), nv());
    for (int d = 0; d < nv(); ++d) {
      const VectorX e = VectorX::Unit(nv(), d);
      J.col(d) = ridders([&](double t) { return f(e, t); }, step);
    }
    return J;
  }
};

void expect_inverse_dynamics_derivatives(DerivativeCase& c, const std::string& label) {
  RneaDerivativeWork work(c.model);
  MatrixX by_q(c.nv(), c.nv()), by_v(c.nv(), c.nv());
  rnea_derivatives(c.model, c.data, work, c.state.q, c.state.v, c.state.a, by_q, by_v, c.options);
  const RandomState& x = c.state;
  const MatrixX q_reference =
      c.jacobian([&](const VectorX& e, double t) { return c.inverse(c.moved(e, t), x.v, x.a); });
  const MatrixX v_reference =
      c.jacobian([&](const VectorX& e, double t) { return c.inverse(x.q, x.v + t * e, x.a); }, 1.0);
  EXPECT_LT(derivative_error(by_q, q_reference), tolerance) << label;
  EXPECT_LT(derivative_error(by_v, v_reference), tolerance) << label;
}

void expect_forward_dynamics_derivatives(DerivativeCase& c, const std::string& label) {
  ForwardDerivativeWork work(c.model);
  const RandomState& x = c.state;
  ASSERT_TRUE(forward_dynamics_derivatives(c.model, c.data, work, x.q, x.v, c.tau, c.options));
  const MatrixX by_q = work.da_dq(), by_v = work.da_dv(), by_tau = work.da_dtau();
  EXPECT_LT(relative_difference(work.acceleration, c.forward(x.q, x.v, c.tau)), 1e-10) << label;
  const MatrixX q_reference =
      c.jacobian([&](const VectorX& e, double t) { return c.forward(c.moved(e, t), x.v, c.tau); });
  const MatrixX v_reference =
      c.jacobian([&](const VectorX& e, double t) { return c.forward(x.q, x.v + t * e, c.tau); }, 1.0);
  const MatrixX tau_reference =
      c.jacobian([&](const VectorX& e, double t) { return c.forward(x.q, x.v, c.tau + t * e); }, 10.0);
  EXPECT_LT(derivative_error(by_q, q_reference), tolerance) << label;
  EXPECT_LT(derivative_error(by_v, v_reference), tolerance) << label;
  EXPECT_LT(derivative_error(by_tau, tau_reference), tolerance) << label;
}

TEST(dynamics_derivatives, of_inverse_dynamics_are_those_of_differences) {
  for (int seed = 0; seed < 200; ++seed) {
    DerivativeCase c(DerivativeCase::tree(seed), seed);
    expect_inverse_dynamics_derivatives(c, fmt::format("seed {}", seed));
  }
}

TEST(dynamics_derivatives, of_forward_dynamics_are_those_of_differences) {
  for (int seed = 0; seed < 200; ++seed) {
    DerivativeCase c(DerivativeCase::tree(seed), seed);
    expect_forward_dynamics_derivatives(c, fmt::format("seed {}", seed));
  }
}

TEST(dynamics_derivatives, hold_on_a_chain_of_a_hundred_links) {
  DerivativeCase c(build(chain_description(100)), 0);
  expect_inverse_dynamics_derivatives(c, "chain");
  expect_forward_dynamics_derivatives(c, "chain");
}

TEST(dynamics_derivatives, products_are_those_with_the_jacobians) {
  for (int seed = 0; seed < 200; ++seed) {
    DerivativeCase c(DerivativeCase::tree(seed), seed);
    const RandomState& x = c.state;
    ForwardDerivativeWork work(c.model);
    MatrixX by_q(c.nv(), c.nv()), by_v(c.nv(), c.nv()), M(c.nv(), c.nv());
    rnea_derivatives(c.model, c.data, work.rnea, x.q, x.v, x.a, by_q, by_v, c.options);
    dense_mass_matrix(c.model, c.data, M);
    const VectorX dq = uniform_vector(c.random, c.nv()), dv = uniform_vector(c.random, c.nv()),
                  da = uniform_vector(c.random, c.nv()), y = uniform_vector(c.random, c.nv());
    VectorX along(c.nv()), q_bar(c.nv()), v_bar(c.nv()), tau_bar(c.nv());
    const bool external = c.options.external != nullptr;
    rnea_directional(c.model, c.data, work.rnea, external, dq, dv, da, along);
    rnea_adjoint(c.model, c.data, work.rnea, external, y, q_bar, v_bar);
    EXPECT_LT(product_difference(along, by_q * dq + by_v * dv + M * da), product_tolerance) << seed;
    EXPECT_LT(product_difference(q_bar, by_q.transpose() * y), product_tolerance) << seed;
    EXPECT_LT(product_difference(v_bar, by_v.transpose() * y), product_tolerance) << seed;

    ASSERT_TRUE(forward_dynamics_derivatives(c.model, c.data, work, x.q, x.v, c.tau, c.options));
    const MatrixX a_q = work.da_dq(), a_v = work.da_dv(), a_tau = work.da_dtau();
    ASSERT_TRUE(prepare_forward_products(c.model, c.data, work, x.q, x.v, c.tau, c.options));
    forward_dynamics_directional(c.model, c.data, work, dq, dv, da, along, c.options);
    forward_dynamics_adjoint(c.model, c.data, work, y, q_bar, v_bar, tau_bar, c.options);
    EXPECT_LT(product_difference(along, a_q * dq + a_v * dv + a_tau * da), product_tolerance) << seed;
    EXPECT_LT(product_difference(q_bar, a_q.transpose() * y), product_tolerance) << seed;
    EXPECT_LT(product_difference(v_bar, a_v.transpose() * y), product_tolerance) << seed;
    EXPECT_LT(product_difference(tau_bar, a_tau.transpose() * y), product_tolerance) << seed;
  }
}

}  // namespace
}  // namespace articula::testing::derivatives_test
