// Energies, momentum and centre of mass against sums over bodies, made from the description.

#include "articula/dynamics/energy.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "articula/kinematics/manifold.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::energy_test {
namespace {

constexpr int trees = 30;

struct EnergyCase {
  std::mt19937 random;
  Model model;
  Data data;
  RandomState state;

  explicit EnergyCase(int seed, double armature = 0.05)
      : random(static_cast<unsigned>(seed)),
        model(random_model(random, {.bodies = 1 + seed, .armature = armature})),
        data(model),
        state(random_state(model, random)) {}

  void prepare(const VectorX& q, const VectorX& v) {
    forward_kinematics(model, data, q);
    place_inertias(model, data);
    propagate_motion(model, data, v.data(), nullptr);
  }
  Energy energy_at(const VectorX& q, const VectorX& v) {
    prepare(q, v);
    return energy(model, data, q, v);
  }
};

// One moving body: its inertia in world axes, and how it moves.
struct MovingBody {
  double mass;
  Vector3 com, velocity, angular;
  Matrix3 inertia;
};

std::vector<MovingBody> moving_bodies(EnergyCase& c) {
  c.prepare(c.state.q, c.state.v);
  std::vector<MovingBody> bodies;
  Matrix6X J(6, c.model.nv());
  for (int b = 1; b < c.model.nbody(); ++b) {
    if (c.model.structure().bodies[b].link == 0) continue;  // welded to the world
    const InertiaDescription& inertia = c.model.description().bodies[b - 1].inertia;
    const Placement at = body_placement(c.model, c.data, b);
    const Matrix3 R = at.R.eigen();
    const PointMotion com = point_motion(c.model, c.data, b, Vec3(inertia.com));
    body_jacobian(c.model, c.data, b, J);
    bodies.push_back({inertia.mass, com.position.eigen(), com.velocity.eigen(), J.bottomRows<3>() * c.state.v,
                      R * inertia.inertia * R.transpose()});
  }
  return bodies;
}

TEST(energy, is_the_sum_over_bodies_armatures_and_springs) {
  for (int seed = 0; seed < trees; ++seed) {
    EnergyCase c(seed);
    double kinetic = 0.0, potential = 0.0, elastic = 0.0;
    for (const MovingBody& body : moving_bodies(c)) {
      kinetic +=
          0.5 * body.mass * body.velocity.squaredNorm() + 0.5 * body.angular.dot(body.inertia * body.angular);
      potential -= body.mass * c.model.description().gravity.dot(body.com);
    }
    for (const JointIndex& joint : c.model.structure().joints) {
      const BodyDescription& body = c.model.description().bodies[joint.body - 1];
      const JointDescription& described =
          body.joints[&joint -
                      &c.model.structure().joints[c.model.structure().links[joint.link].joint_begin]];
      const double* q = c.state.q.data() + joint.q;
      int dofs = 1;
      if (joint.type == JointType::ball || joint.type == JointType::free) {
        dofs = joint.type == JointType::ball ? 3 : 6;
        const double angle = 2 * std::acos(std::min(1.0, std::abs(q[0])));
        elastic += joint.type == JointType::ball ? 0.5 * described.stiffness * angle * angle : 0.0;
      } else {
        elastic += 0.5 * described.stiffness * std::pow(q[0] - described.spring_reference, 2);
      }
      for (int i = 0; i < dofs; ++i)
        kinetic += 0.5 * described.armature * std::pow(c.state.v[joint.dof + i], 2);
    }
    const Energy got = c.energy_at(c.state.q, c.state.v);
    EXPECT_NEAR(got.kinetic, kinetic, 1e-12 * (1 + kinetic)) << "seed " << seed;
    EXPECT_NEAR(got.potential, potential, 1e-12 * (1 + std::abs(potential))) << "seed " << seed;
    EXPECT_NEAR(got.elastic, elastic, 1e-12 * (1 + elastic)) << "seed " << seed;
  }
}

TEST(energy, kinetic_energy_is_the_mass_matrix_s_quadratic_form) {
  for (int seed = 0; seed < trees; ++seed) {
    EnergyCase c(seed);
    const double kinetic = c.energy_at(c.state.q, c.state.v).kinetic;
    VectorX p(c.model.nv());
    crba(c.model, c.data, c.state.q);
    multiply_mass_matrix(c.model, c.data, c.state.v, p);
    EXPECT_NEAR(kinetic, 0.5 * p.dot(c.state.v), 1e-13 * (1 + kinetic)) << "seed " << seed;
  }
}

TEST(energy, forces_at_rest_are_the_gradient_of_the_potentials) {
  for (int seed = 0; seed < trees; ++seed) {
    EnergyCase c(seed);
    const VectorX rest = VectorX::Zero(c.model.nv());
    const MatrixX gradient = ridders_tangent(
        c.model,
        [&](const VectorX& q) -> VectorX {
          const Energy e = c.energy_at(q, rest);
          return Vector2(e.potential, e.elastic);
        },
        c.state.q);
    VectorX bias(c.model.nv()), spring = rest;
    bias_forces(c.model, c.data, c.state.q, rest, bias);
    add_spring_forces(c.model, c.state.q, spring);
    EXPECT_LT((bias - gradient.row(0).transpose()).norm(), 1e-9 * (1 + bias.norm())) << "seed " << seed;
    EXPECT_LT((spring + gradient.row(1).transpose()).norm(), 1e-8 * (1 + spring.norm())) << "seed " << seed;
  }
}

// Along the motion that forward dynamics gives, the total energy does not change.
TEST(energy, is_conserved_along_the_accelerations_of_forward_dynamics) {
  for (int seed = 0; seed < trees; ++seed) {
    EnergyCase c(seed);
    const int nv = c.model.nv();
    VectorX force = VectorX::Zero(nv), a(nv), q(c.model.nq());
    add_spring_forces(c.model, c.state.q, force);
    ASSERT_TRUE(aba(c.model, c.data, c.state.q, c.state.v, force, a));
    const double scale = c.energy_at(c.state.q, c.state.v).kinetic;
    const VectorX rate = ridders(
        [&](double t) -> VectorX {
          integrate(c.model, c.state.q, t * c.state.v + 0.5 * t * t * a, 1.0, q);
          return VectorX::Constant(1, c.energy_at(q, c.state.v + t * a).total());
        },
        1e-3);
    EXPECT_LT(std::abs(rate[0]), 1e-7 * (1 + scale)) << "seed " << seed;
  }
}

TEST(momentum, and_centre_of_mass_are_sums_over_bodies) {
  for (int seed = 0; seed < trees; ++seed) {
    EnergyCase c(seed);
    const std::vector<MovingBody> bodies = moving_bodies(c);
    double mass = 0.0;
    Vector3 centre = Vector3::Zero(), linear = Vector3::Zero(), angular = Vector3::Zero();
    for (const MovingBody& body : bodies) {
      mass += body.mass;
      centre += body.mass * body.com;
      linear += body.mass * body.velocity;
    }
    centre /= mass;
    for (const MovingBody& body : bodies) {
      angular += body.mass * (body.com - centre).cross(body.velocity) + body.inertia * body.angular;
    }
    EXPECT_NEAR(c.model.total_mass(), mass, 1e-13 * mass);
    EXPECT_LT((centre_of_mass(c.model, c.data) - centre).norm(), 1e-13 * (1 + centre.norm()));
    const Vector6 got = momentum(c.model, c.data);
    EXPECT_LT((got.head<3>() - linear).norm(), 1e-12 * (1 + linear.norm())) << "seed " << seed;
    EXPECT_LT((got.tail<3>() - angular).norm(), 1e-12 * (1 + angular.norm())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace articula::testing::energy_test
