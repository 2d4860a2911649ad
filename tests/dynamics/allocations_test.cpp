// Nothing allocates after the first call: malloc itself is watched (Eigen bypasses operator new).

#include "tests/support/allocations.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/energy.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/steppers/contact_free.hpp"
#include "articula/steppers/runge_kutta.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::allocations_test {
namespace {

struct Watched {
  std::mt19937 random{3};
  Model model = random_model(random, {.bodies = 20});
  Data data{model};
  RandomState x = random_state(model, random);
  VectorX tau = uniform_vector(random, model.nv());
  VectorX out_v = VectorX::Zero(model.nv()), out_q = VectorX::Zero(model.nq());
  ExternalWrenches external = Matrix6X::Ones(6, model.nbody());
  DynamicsOptions options{.external = &external, .gyroscopic_step = 0.01};

  // The first call may allocate, the others not.
  template <class Call>
  void expect_none(const char* what, Call call) {
    call();
    EXPECT_EQ(allocations_during([&] {
                for (int i = 0; i < 10; ++i) call();
              }),
              0U)
        << what;
  }
};

TEST(allocations, no_algorithm_allocates_after_its_first_call) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Watched w;
  const Model& model = w.model;
  const int nv = model.nv();
  w.expect_none("forward_kinematics", [&] { forward_kinematics(model, w.data, w.x.q); });
  w.expect_none("place_inertias", [&] { place_inertias(model, w.data); });
  w.expect_none("rnea", [&] { rnea(model, w.data, w.x.q, w.x.v, w.x.a, w.out_v, w.options); });
  w.expect_none("bias_forces", [&] { bias_forces(model, w.data, w.x.q, w.x.v, w.out_v, w.options); });
  w.expect_none("aba", [&] { EXPECT_TRUE(aba(model, w.data, w.x.q, w.x.v, w.tau, w.out_v, w.options)); });
  w.expect_none("crba", [&] { crba(model, w.data, w.x.q); });
  w.expect_none("factor_mass_matrix", [&] { EXPECT_TRUE(factor_mass_matrix(model, w.data)); });
  w.expect_none("solve_mass_matrix", [&] { solve_mass_matrix(model, w.data, w.out_v); });
  RowMatrix many = RowMatrix::Ones(nv, 7);
  w.expect_none("solve_mass_matrix_columns", [&] { solve_mass_matrix_columns(model, w.data, many); });
  w.expect_none("multiply_mass_matrix", [&] { multiply_mass_matrix(model, w.data, w.x.v, w.out_v); });
  MatrixX square(nv, nv), square2(nv, nv);
  w.expect_none("dense_mass_matrix", [&] { dense_mass_matrix(model, w.data, square); });
  w.expect_none("springs", [&] { add_spring_forces(model, w.x.q, w.out_v); });
  w.expect_none("integrate", [&] { integrate(model, w.x.q, w.x.v, 0.1, w.out_q); });
  w.expect_none("difference", [&] { difference(model, w.x.q, w.x.q, w.out_v); });
  w.expect_none("integrate_jacobians", [&] { integrate_jacobians(model, w.x.v, square, square2); });
  w.expect_none("difference_jacobians", [&] { difference_jacobians(model, w.x.q, w.x.q, square, square2); });
}

TEST(allocations, neither_jacobians_nor_energies_allocate) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Watched w;
  const Model& model = w.model;
  forward_kinematics(model, w.data, w.x.q);
  place_inertias(model, w.data);
  w.expect_none("motion", [&] {
    propagate_motion(model, w.data, w.x.v.data(), w.x.a.data());
    motion_rates(model, w.data, w.x.v.data(), w.x.a.data());
  });
  Matrix6X J(6, model.nv());
  Matrix3X J_point(3, model.nv());
  const Vector3 point(1, 2, 3);
  w.expect_none("jacobians", [&] {
    body_jacobian(model, w.data, 3, J);
    frame_jacobian(model, w.data, 3, J);
    point_jacobian(model, w.data, 3, point, J_point);
    body_jacobian_rate(model, w.data, 3, J);
    frame_jacobian_rate(model, w.data, 3, J);
    point_jacobian_rate(model, w.data, 3, point, J_point);
  });
  double sum = 0.0;
  w.expect_none("energy", [&] {
    sum += energy(model, w.data, w.x.q, w.x.v).total() + momentum(model, w.data)[0] +
           centre_of_mass(model, w.data)[0];
  });
  EXPECT_TRUE(std::isfinite(sum));
}

TEST(allocations, no_step_allocates_after_the_first) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Watched w;
  ContactFreeWork work(w.model);
  RungeKuttaWork rk_work(w.model);
  State state{w.x.q, w.x.v, {}, 0.0};
  const Input input{.forces = w.tau, .wrenches = w.external};
  w.expect_none("contact_free_step", [&] {
    EXPECT_EQ(contact_free_step(w.model, w.data, work, {.dt = 1e-4}, input, state), StepStatus::ok);
  });
  w.expect_none("runge_kutta_step", [&] {
    EXPECT_EQ(runge_kutta_step(w.model, w.data, rk_work, 1e-4, w.tau, state), StepStatus::ok);
  });
}

}  // namespace
}  // namespace articula::testing::allocations_test
