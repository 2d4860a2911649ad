// Derivatives of energies, centre of mass and momentum against Ridders' differences, and their products
// against the Jacobians.

#include "articula/dynamics/energy_derivatives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/dynamics/rnea.hpp"
#include "articula/kinematics/manifold.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::energy_derivatives_test {
namespace {

constexpr double tolerance = 1e-7;
constexpr double product_tolerance = 1e-11;

// Everything this file differentiates, one under the other.
constexpr int rows = 12;
struct Block {
  const char* name;
  int begin, size;
};
constexpr Block blocks[] = {{"kinetic", 0, 1}, {"potential", 1, 1}, {"elastic", 2, 1},
                            {"centre", 3, 3},  {"linear", 6, 3},    {"angular", 9, 3}};

struct EnergyCase {
  std::mt19937 random;
  Model model;
  Data data;
  EnergyDerivativeWork work;
  RandomState state;

  EnergyCase(Model built, int seed)
      : random(static_cast<unsigned>(seed) + 99),
        model(std::move(built)),
        data(model),
        work(model),
        state(random_state(model, random)) {
    move_kinematic_bodies(data, random);
  }

  // Every joint type, several on a body; every fourth hangs on a kinematic body.
  static Model tree(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    return random_model(random,
                        {.bodies = 1 + seed % 12, .chain = seed % 5 == 4, .kinematic = seed % 4 == 3});
  }

  int nv() const { return model.nv(); }

  void move(const VectorX& q, const VectorX& v) {
    forward_kinematics(model, data, q);
    place_inertias(model, data);
    propagate_motion(model, data, v.data(), nullptr);
  }
  void prepare() {
    move(state.q, state.v);
    motion_rates(model, data, state.v.data(), nullptr);
    prepare_energy_derivatives(model, data, work, state.q, state.v);
  }
  VectorX values(const VectorX& q, const VectorX& v) {
    move(q, v);
    const Energy e = energy(model, data, q, v);
    VectorX all(rows);
    all << e.kinetic, e.potential, e.elastic, centre_of_mass(model, data), momentum(model, data);
    return all;
  }
  MatrixX differences_by_q() {
    MatrixX J(rows, nv());
    VectorX q(model.nq());
    for (int d = 0; d < nv(); ++d) {
      const VectorX e = VectorX::Unit(nv(), d);
      J.col(d) = ridders([&](double t) {
        integrate(model, state.q, e, t, q);
        return values(q, state.v);
      });
    }
    return J;
  }
  // Energies are quadratic in v, momenta linear: a large step is exact and quiet.
  MatrixX differences_by_v() {
    MatrixX J(rows, nv());
    for (int d = 0; d < nv(); ++d) {
      const VectorX e = VectorX::Unit(nv(), d);
      J.col(d) = ridders([&](double t) { return values(state.q, state.v + t * e); }, 1.0);
    }
    return J;
  }
};

struct Derivatives {
  MatrixX by_q, by_v;
};

Derivatives derivatives_of(EnergyCase& c) {
  c.prepare();
  const int nv = c.nv();
  VectorX kinetic_q(nv), kinetic_v(nv), potential(nv), elastic(nv);
  Matrix3X centre(3, nv);
  Matrix6X momentum_q(6, nv), momentum_v(6, nv);
  kinetic_energy_gradient(c.model, c.data, c.work, kinetic_q, kinetic_v);
  potential_energy_gradient(c.model, c.data, c.work, potential);
  elastic_energy_gradient(c.model, c.work, elastic);
  centre_of_mass_jacobian(c.model, c.data, c.work, centre);
  momentum_derivatives(c.model, c.data, c.work, momentum_q, momentum_v);
  Derivatives d{MatrixX(rows, nv), MatrixX::Zero(rows, nv)};
  d.by_q << kinetic_q.transpose(), potential.transpose(), elastic.transpose(), centre, momentum_q;
  d.by_v.row(0) = kinetic_v.transpose();
  d.by_v.bottomRows(6) = momentum_v;
  return d;
}

void expect_derivatives(EnergyCase& c, const std::string& label) {
  const Derivatives d = derivatives_of(c);
  const MatrixX by_q = c.differences_by_q(), by_v = c.differences_by_v();
  for (const Block& b : blocks) {
    EXPECT_LT(derivative_error(d.by_q.middleRows(b.begin, b.size), by_q.middleRows(b.begin, b.size)),
              tolerance)
        << label << ": " << b.name << " by q";
    EXPECT_LT(derivative_error(d.by_v.middleRows(b.begin, b.size), by_v.middleRows(b.begin, b.size)),
              tolerance)
        << label << ": " << b.name << " by v";
  }
}

TEST(energy_derivatives, are_those_of_differences) {
  for (int seed = 0; seed < 240; ++seed) {
    EnergyCase c(EnergyCase::tree(seed), seed);
    expect_derivatives(c, fmt::format("seed {}", seed));
  }
}

TEST(energy_derivatives, hold_on_a_chain_of_a_hundred_links) {
  EnergyCase c(build(chain_description(100)), 0);
  expect_derivatives(c, "chain");
}

TEST(energy_derivatives, products_are_those_with_the_jacobians) {
  for (int seed = 0; seed < 240; ++seed) {
    EnergyCase c(EnergyCase::tree(seed), seed);
    const int nv = c.nv();
    const Derivatives d = derivatives_of(c);
    const VectorX dq = uniform_vector(c.random, nv), dv = uniform_vector(c.random, nv),
                  y = uniform_vector(c.random, rows), start = uniform_vector(c.random, nv);
    VectorX along(rows), q_bar = start, v_bar = start;
    const Energy change = energy_directional(c.model, c.data, c.work, dq, dv);
    along << change.kinetic, change.potential, change.elastic,
        centre_of_mass_directional(c.model, c.data, c.work, dq),
        momentum_directional(c.model, c.data, c.work, dq, dv);
    add_energy_adjoint(c.model, c.data, c.work, {y[0], y[1], y[2]}, q_bar, v_bar);
    add_centre_of_mass_adjoint(c.model, c.data, c.work, y.segment<3>(3), q_bar);
    add_momentum_adjoint(c.model, c.data, c.work, y.tail<6>(), q_bar, v_bar);
    EXPECT_LT(product_difference(along, d.by_q * dq + d.by_v * dv), product_tolerance) << seed;
    EXPECT_LT(product_difference(q_bar, start + d.by_q.transpose() * y), product_tolerance) << seed;
    EXPECT_LT(product_difference(v_bar, start + d.by_v.transpose() * y), product_tolerance) << seed;
  }
}

// Holding still against gravity takes the gradient of its potential: inverse dynamics at rest.
TEST(energy_derivatives, of_potential_energy_is_the_force_that_holds_still) {
  for (int seed = 0; seed < 20; ++seed) {
    EnergyCase c(EnergyCase::tree(seed), seed);
    for (Motion& twist : c.data.kinematic_twist) twist = {};
    const Derivatives d = derivatives_of(c);
    const VectorX still = VectorX::Zero(c.nv());
    VectorX tau(c.nv());
    rnea(c.model, c.data, c.state.q, still, still, tau);
    EXPECT_LT(product_difference(d.by_q.row(1).transpose(), tau), product_tolerance) << seed;
  }
}

// Where nothing kinematic carries a tree.
TEST(energy_derivatives, of_momentum_by_v_times_v_is_momentum) {
  EnergyCase c(EnergyCase::tree(8), 8);
  const Derivatives d = derivatives_of(c);
  const Vector6 from_velocity = d.by_v.bottomRows(6) * c.state.v;
  EXPECT_LT((from_velocity - momentum(c.model, c.data)).norm(), 1e-12 * from_velocity.norm());
}

TEST(energy_derivatives, allocate_nothing) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  EnergyCase c(EnergyCase::tree(11), 11);
  const int nv = c.nv();
  VectorX x(nv), y(nv);
  Matrix3X centre(3, nv);
  Matrix6X by_q(6, nv), by_v(6, nv);
  double sum = 0.0;
  const auto count = allocations_during([&] {
    c.prepare();
    kinetic_energy_gradient(c.model, c.data, c.work, x, y);
    potential_energy_gradient(c.model, c.data, c.work, x);
    elastic_energy_gradient(c.model, c.work, x);
    centre_of_mass_jacobian(c.model, c.data, c.work, centre);
    momentum_derivatives(c.model, c.data, c.work, by_q, by_v);
    sum += energy_directional(c.model, c.data, c.work, x, y).total();
    sum += centre_of_mass_directional(c.model, c.data, c.work, x).norm();
    sum += momentum_directional(c.model, c.data, c.work, x, y).norm();
    add_energy_adjoint(c.model, c.data, c.work, {1.0, 1.0, 1.0}, x, y);
    add_centre_of_mass_adjoint(c.model, c.data, c.work, Vector3::Ones(), x);
    add_momentum_adjoint(c.model, c.data, c.work, Vector6::Ones(), x, y);
  });
  EXPECT_EQ(count, 0U);
  EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace articula::testing::energy_derivatives_test
