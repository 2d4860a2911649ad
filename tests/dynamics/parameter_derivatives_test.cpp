// Derivatives of inverse dynamics with respect to the model's numbers.

#include "articula/dynamics/parameter_derivatives.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/crba.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::parameter_derivatives_test {
namespace {

// Trees with bodies welded to the world, to kinematic bodies and to moving ones.
Model parameter_tree(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 1000);
  Description d =
      random_description(random, {.bodies = 2 + seed % 9, .chain = seed % 10 == 9, .weld_probability = 0.3});
  if (seed % 4 == 0) {
    BodyDescription moved;
    moved.name = "moved";
    moved.kinematic = true;
    moved.inertia.mass = 1.0;
    moved.inertia.inertia = Matrix3::Identity();
    moved.pose = {uniform_vector(random, 3, 0.3), random_rotation(random)};
    d.bodies.insert(d.bodies.begin(), moved);
    BodyDescription hanging;
    hanging.name = "hanging";
    hanging.parent = "moved";
    hanging.pose = {uniform_vector(random, 3, 0.3), random_rotation(random)};
    hanging.joints.resize(1);
    hanging.inertia.mass = 1.0;
    hanging.inertia.com = {0.1, 0.2, 0.3};
    hanging.inertia.inertia = Vector3(0.02, 0.03, 0.04).asDiagonal();
    d.bodies.push_back(hanging);
  }
  // A plain free body at the end keeps every tree moving.
  BodyDescription box;
  box.name = "box";
  box.joints.resize(1);
  box.joints[0].type = JointType::free;
  box.inertia.mass = 2.0;
  box.inertia.inertia = Vector3(0.02, 0.03, 0.04).asDiagonal();
  d.bodies.push_back(box);
  return build(d);
}

struct ParameterCase {
  std::mt19937 random;
  Model model;
  RandomState state;
  ExternalWrenches external;
  DynamicsOptions options;
  Data data;
  RneaDerivativeWork rnea_work;
  ParameterWork work;

  explicit ParameterCase(Model built, int seed)
      : random(static_cast<unsigned>(seed)),
        model(std::move(built)),
        state(random_state(model, random)),
        external(Matrix6X::Zero(6, model.nbody())),
        data(model),
        rnea_work(model),
        work(model) {
    for (int b = 1; b < model.nbody(); ++b) external.col(b) = uniform_vector(random, 6, 5.0);
    if (seed % 2 == 1) options.external = &external;
    if (seed % 3 != 1) options.gyroscopic_step = 0.05;
    move_kinematic(data);
    VectorX tau(model.nv());
    rnea(model, data, state.q, state.v, state.a, tau, options);
    composite_mass_matrix(model, data);
    prepare_rnea_derivatives(model, data, rnea_work, state.v.data(), state.a.data(), options);
    prepare_parameter_derivatives(model, data, work, state.q, options);
  }
  ParameterCase(const ParameterCase&) = delete;

  static void move_kinematic(Data& data) {
    for (Motion& twist : data.kinematic_twist) twist = {Vec3(0.3, -0.5, 0.2), Vec3(0.7, 0.1, -0.4)};
  }

  VectorX torque(const VectorX& theta) const {
    const Model changed = model.with(theta);
    Data fresh(changed);
    fresh.kinematic_pose = data.kinematic_pose;  // the user's, not the model's
    move_kinematic(fresh);
    VectorX tau(model.nv());
    rnea(changed, fresh, state.q, state.v, state.a, tau, options);
    return tau;
  }
  VectorX along(const VectorX& direction) {
    VectorX dtau(model.nv());
    rnea_parameter_directional(model, data, work, state.a, options, direction, dtau);
    return dtau;
  }
};

TEST(parameter_derivatives, of_every_kind_of_number_are_those_of_differences) {
  for (int seed = 0; seed < 200; ++seed) {
    ParameterCase c(parameter_tree(seed), seed);
    for (const ParameterKind kind : {ParameterKind::inertia, ParameterKind::placement,
                                     ParameterKind::armature, ParameterKind::gravity}) {
      VectorX direction = VectorX::Zero(c.model.theta().size());
      for (const ParameterSlice& slice : c.model.parameters().of_kind(kind)) {
        direction.segment(slice.offset, slice.size) = uniform_vector(c.random, slice.size, 1.0);
      }
      if (kind == ParameterKind::inertia) direction *= 0.01;  // stays a real body
      const VectorX reference =
          ridders([&](double t) { return c.torque(c.model.theta() + t * direction); }, 2e-2);
      EXPECT_LT(relative_error(c.along(direction), reference), 1e-7)
          << "seed " << seed << " " << to_string(kind);
    }
  }
}

TEST(parameter_derivatives, against_a_covector_are_the_transpose_of_those_along_a_direction) {
  for (int seed = 0; seed < 200; ++seed) {
    ParameterCase c(parameter_tree(seed), seed);
    const VectorX y = uniform_vector(c.random, c.model.nv());
    VectorX theta_bar = VectorX::Zero(c.model.theta().size());
    rnea_parameter_adjoint(c.model, c.data, c.work, c.state.a, c.options, y, theta_bar);
    VectorX by_columns(theta_bar.size());
    for (int i = 0; i < theta_bar.size(); ++i) {
      by_columns[i] = c.along(VectorX::Unit(theta_bar.size(), i)).dot(y);
    }
    EXPECT_LT(relative_difference(theta_bar, by_columns), 1e-11) << "seed " << seed;
  }
}

TEST(parameter_derivatives, the_regressor_times_the_inertias_is_the_torque) {
  for (int seed = 0; seed < 100; ++seed) {
    ParameterCase c(parameter_tree(3 * seed + 1), 2 * (3 * seed + 1));
    c.options = {};
    VectorX tau(c.model.nv()), pi = VectorX::Zero(10 * c.model.nbody());
    MatrixX Y(c.model.nv(), 10 * c.model.nbody());
    rnea(c.model, c.data, c.state.q, c.state.v, c.state.a, tau);
    inertial_regressor(c.model, c.data, Y);
    for (int b = 1; b < c.model.nbody(); ++b) {
      pi.segment(10 * b, 10) = c.model.theta().segment(c.model.structure().bodies[b].inertia, 10);
    }
    VectorX rotor(c.model.nv());
    for (int d = 0; d < c.model.nv(); ++d) rotor[d] = c.model.constants().armature[d] * c.state.a[d];
    EXPECT_LT(relative_difference(Y * pi + rotor, tau), 1e-11) << "seed " << seed;
  }
}

}  // namespace
}  // namespace articula::testing::parameter_derivatives_test
