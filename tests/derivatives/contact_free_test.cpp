// The contact-free step differentiated with respect to everything that goes in.

#include "articula/derivatives/contact_free.hpp"

#include <gtest/gtest.h>

#include "articula/kinematics/manifold.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing {
namespace {

struct StepCase {
  std::mt19937 random;
  Model model;
  Data data;
  ContactFreeWork work;
  ContactFreeDerivatives derivatives;
  ExternalWrenches external;
  ContactFreeSettings settings;
  RandomState start;
  VectorX tau;

  explicit StepCase(Model built, int seed)
      : random(static_cast<unsigned>(seed)),
        model(std::move(built)),
        data(model),
        work(model),
        derivatives(model),
        external(Matrix6X::Zero(6, model.nbody())),
        start(random_state(model, random)),
        tau(uniform_vector(random, model.nv(), 5.0)) {
    for (int b = 1; b < model.nbody(); ++b) external.col(b) = uniform_vector(random, 6, 2.0);
    settings.dt = 0.05;
    settings.implicit_gyroscopic = seed % 3 != 0;
    if (seed % 2 == 0) settings.external = &external;
    step(start.q, start.v, tau, model.theta(), settings.dt);
    State state{start.q, start.v, {}, 0.0};
    EXPECT_EQ(contact_free_step(model, data, work, settings, tau, state), StepStatus::ok);
    derivatives.prepare(model, data, work, settings);
  }
  StepCase(const StepCase&) = delete;

  // x+ in the tangent space at the undisturbed result.
  VectorX step(const VectorX& q, const VectorX& v, const VectorX& force, const VectorX& theta, double dt) {
    const Model changed = model.with(theta);
    Data fresh(changed);
    ContactFreeWork fresh_work(changed);
    ContactFreeSettings changed_settings = settings;
    changed_settings.dt = dt;
    State state{q, v, {}, 0.0};
    EXPECT_EQ(contact_free_step(changed, fresh, fresh_work, changed_settings, force, state), StepStatus::ok);
    if (q_end.size() == 0) q_end = state.q;
    VectorX x(2 * model.nv()), moved(model.nv());
    difference(model, q_end, state.q, moved);
    x << moved, state.v;
    return x;
  }
  VectorX q_end;

  VectorX disturbed(const VectorX& dz, double t) {
    const int nv = model.nv();
    VectorX q(model.nq());
    integrate(model, start.q, dz.segment(0, nv), t, q);
    VectorX theta = model.theta() + t * dz.tail(model.theta().size());
    const double dt = settings.dt + t * dz[3 * nv + model.structure().timestep];
    theta[model.structure().timestep] = model.timestep();
    return step(q, start.v + t * dz.segment(nv, nv), tau + t * dz.segment(2 * nv, nv), theta, dt);
  }
  VectorX along(const VectorX& dz) {
    VectorX w(model.nv()), dx(2 * model.nv());
    push_forward(derivatives, dz, w, dx);
    return dx;
  }
};

Model step_tree(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 500);
  return random_model(random, {.bodies = 1 + seed % 10, .chain = seed % 10 == 9, .weld_probability = 0.2});
}

TEST(contact_free_derivatives, along_state_and_forces_are_those_of_differences) {
  for (int seed = 0; seed < 200; ++seed) {
    StepCase c(step_tree(seed), seed);
    const int nv = c.model.nv();
    MatrixX by_state(2 * nv, 2 * nv), by_tau(2 * nv, nv);
    c.derivatives.jacobians(by_state, by_tau);
    const auto reference = [&](double step) {
      MatrixX columns(2 * nv, 3 * nv);
      for (int i = 0; i < 3 * nv; ++i) {
        const VectorX dz = VectorX::Unit(c.derivatives.inputs(), i);
        columns.col(i) = ridders([&](double t) { return c.disturbed(dz, t); }, i < nv ? step : 1.0);
      }
      return columns;
    };
    MatrixX differences = reference(1e-2);
    // Long chains amplify rounding: where the first step drowns in it, a longer one decides.
    if (relative_error(by_state, differences.leftCols(2 * nv)) > 1e-7) differences = reference(5e-2);
    EXPECT_LT(relative_error(by_state, differences.leftCols(2 * nv)), 1e-7) << "seed " << seed;
    EXPECT_LT(relative_error(by_tau, differences.rightCols(nv)), 1e-7) << "seed " << seed;
  }
}

TEST(contact_free_derivatives, along_every_kind_of_parameter_are_those_of_differences) {
  for (int seed = 0; seed < 200; ++seed) {
    StepCase c(step_tree(seed), seed);
    for (const ParameterKind kind :
         {ParameterKind::inertia, ParameterKind::placement, ParameterKind::armature, ParameterKind::damping,
          ParameterKind::stiffness, ParameterKind::gravity, ParameterKind::dt}) {
      VectorX dz = VectorX::Zero(c.derivatives.inputs());
      for (const ParameterSlice& slice : c.model.parameters().of_kind(kind)) {
        dz.segment(3 * c.model.nv() + slice.offset, slice.size) = uniform_vector(c.random, slice.size);
      }
      // Steps as large as the numbers bear: inertias stay real, M + h D positive; the weight is linear.
      const double step = kind == ParameterKind::gravity                                ? 10.0
                          : kind == ParameterKind::armature                             ? 1e-3
                          : kind == ParameterKind::inertia || kind == ParameterKind::dt ? 1e-4
                                                                                        : 2e-2;
      VectorX reference = ridders([&](double t) { return c.disturbed(dz, t); }, step);
      // Where the first step drowns in rounding, a longer one decides.
      if (relative_error(c.along(dz), reference) > 1e-7) {
        reference = ridders([&](double t) { return c.disturbed(dz, t); }, 2 * step);
      }
      EXPECT_LT(relative_error(c.along(dz), reference), 1e-7) << "seed " << seed << " " << to_string(kind);
    }
  }
}

TEST(contact_free_derivatives, against_a_covector_are_the_transpose) {
  for (int seed = 0; seed < 200; ++seed) {
    StepCase c(step_tree(seed), seed);
    const VectorX x_bar = uniform_vector(c.random, 2 * c.model.nv());
    VectorX w(c.model.nv()), z_bar(c.derivatives.inputs()), by_columns(c.derivatives.inputs());
    pull_back(c.derivatives, x_bar, w, z_bar);
    for (int i = 0; i < z_bar.size(); ++i) {
      by_columns[i] = c.along(VectorX::Unit(z_bar.size(), i)).dot(x_bar);
    }
    EXPECT_LT(relative_difference(z_bar, by_columns), 1e-11) << "seed " << seed;
    MatrixX by_state(2 * c.model.nv(), 2 * c.model.nv()), by_tau(2 * c.model.nv(), c.model.nv());
    c.derivatives.jacobians(by_state, by_tau);
    EXPECT_LT(relative_difference(by_state.transpose() * x_bar, z_bar.head(2 * c.model.nv())), 1e-11) << seed;
  }
}

}  // namespace
}  // namespace articula::testing
