// The smooth residual that steps with and without contact share.

#include "articula/derivatives/smooth_residual.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/force_switches.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "articula/kinematics/manifold.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_forces.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::smooth_residual_test {
namespace {

// A force at a point of the world, on a body.
struct HeldForce {
  int body;
  Vector3 point, force;
};

struct ResidualCase {
  std::mt19937 random;
  Model model;
  Data data;
  FreeMotionWork work;
  SmoothResidual residual;
  StepInputs at;
  StepSettings settings{.dt = 0.05};
  State start;
  Input input;
  VectorX acceleration;
  std::vector<HeldForce> held;
  std::vector<int> sides;

  explicit ResidualCase(int seed, bool limits = false)
      : random(static_cast<unsigned>(seed)),
        model(random_force_model(seed, limits)),
        data(model),
        work(model),
        residual(model),
        at(model) {
    const RandomState x = random_state(model, random);
    const RandomInputs inputs = random_inputs(model, random);
    start = {x.q, x.v, inputs.activation, 0.0};
    acceleration = x.a;
    input.controls = inputs.control;
    input.forces = uniform_vector(random, model.nv());
    input.wrenches = Matrix6X::Zero(6, model.nbody());
    for (int b = 1; b < model.nbody(); ++b) {
      input.wrenches.col(b) = uniform_vector(random, 6, 2.0);
      const int k = model.structure().bodies[b].link;
      if (k == 0) continue;
      held.push_back({b, uniform_vector(random, 3, 2.0), uniform_vector(random, 3, 5.0)});
    }
    VectorX v_free(model.nv());
    EXPECT_EQ(free_velocity(model, data, work, settings, start, input, v_free), StepStatus::ok);
    for (Force& wrench : residual.held_forces()) wrench = {};
    for (const HeldForce& each : held) {
      const Vec3 r = Vec3(each.point) - data.link_reference[model.structure().bodies[each.body].link];
      const Vec3 force(each.force);
      residual.held_forces()[each.body] += Force{cross(r, force), force};
    }
    residual.prepare(model, data, work, settings, acceleration);
    residual.hold_forces();
    sides = sides_of(model, data, work, settings.dt);
  }
  ResidualCase(const ResidualCase&) = delete;

  static std::vector<int> sides_of(const Model& model, const Data& data, const FreeMotionWork& free,
                                   double dt) {
    std::vector<ForceSwitch> switches;
    force_switches(model, data, free.forces,
                   {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt}, switches);
    std::vector<int> found;
    for (const ForceSwitch& each : switches) found.push_back(each.side);
    return found;
  }

  // r = rnea - J^T wrenches + h slope a - tau - forces - J^T f, from the equations.
  VectorX disturbed(const VectorX& dz, double t) const {
    const int nv = model.nv();
    VectorX theta = model.theta() + t * dz.tail(model.theta().size());
    theta[model.structure().timestep] = model.timestep();
    const Model changed = model.with(theta);
    const double h = settings.dt + t * dz[at.theta + model.structure().timestep];
    State x = start;
    integrate(model, start.q, dz.segment(at.q, nv), t, x.q);
    x.v += t * dz.segment(at.v, nv);
    x.activation += t * dz.segment(at.activation, model.na());
    const VectorX u = input.controls + t * dz.segment(at.control, model.nu());
    ExternalWrenches wrenches = input.wrenches;
    wrenches.reshaped() += t * dz.segment(at.wrench, 6 * model.nbody());
    Data fresh(changed);
    FreeMotionWork free(changed);
    VectorX r(nv);
    rnea(changed, fresh, x.q, x.v, acceleration, r, {.external = &wrenches, .gyroscopic_step = h});
    applied_forces(changed, fresh, free.forces, x.q, x.v, x.activation, u, h);
    free.q = x.q, free.v = x.v, free.activation = x.activation, free.control = u;
    if (sides_of(changed, fresh, free, h) != sides) return VectorX::Constant(nv, NAN);
    r += h * free.forces.slope.cwiseProduct(acceleration) - free.forces.tau - input.forces -
         t * dz.segment(at.force, nv);
    Matrix3X J(3, nv);
    for (const HeldForce& each : held) {
      point_jacobian(changed, fresh, each.body, each.point, J);
      r -= J.transpose() * each.force;
    }
    return r;
  }
};

TEST(smooth_residual, along_everything_is_that_of_differences_with_contact_forces_held_in_space) {
  const int robots = cases(25, 25);
  int compared = 0;
  for (int seed = 0; seed < robots; ++seed) {
    ResidualCase c(seed);
    const auto part = [&](int begin, int end, double step) {
      VectorX dz = VectorX::Zero(c.at.size), dr(c.model.nv());
      dz.segment(begin, end - begin) = uniform_vector(c.random, end - begin);
      c.residual.along(dz, dr);
      const Differences reference =
          ridders_differences([&](double t) { return c.disturbed(dz, t); }, {step, 0.1 * step, 1e-2 * step});
      if (!reference.derivative.allFinite()) return;
      ++compared;
      const VectorX beyond = ((dr - reference.derivative).cwiseAbs() - 4.0 * reference.error).cwiseMax(0.0);
      EXPECT_LT(derivative_error(reference.derivative + beyond, reference.derivative), 1e-7)
          << "seed " << seed << ", inputs from " << begin;
    };
    part(c.at.q, c.at.v, 0.1);
    part(c.at.v, c.at.activation, 0.1);
    part(c.at.activation, c.at.control, 0.1);
    part(c.at.control, c.at.force, 0.1);
    part(c.at.force, c.at.wrench, 1.0);
    part(c.at.wrench, c.at.theta, 1.0);
    for (const ParameterKind kind : {ParameterKind::placement, ParameterKind::gains, ParameterKind::dt}) {
      for (const ParameterSlice& slice : c.model.parameters().of_kind(kind)) {
        const int begin = c.at.theta + slice.offset;
        part(begin, begin + slice.size, kind == ParameterKind::dt ? 1e-3 : 0.1);
      }
    }
  }
  EXPECT_GT(compared, 20 * robots);
}

TEST(smooth_residual, against_a_covector_is_the_transpose) {
  for (int seed = 0; seed < 60; ++seed) {
    ResidualCase c(seed, true);
    const int nv = c.model.nv();
    const VectorX y = uniform_vector(c.random, nv);
    VectorX z_bar = VectorX::Zero(c.at.size), by_columns(c.at.size), dr(nv);
    c.residual.against(y, z_bar);
    for (int i = 0; i < c.at.size; ++i) {
      c.residual.along(VectorX::Unit(c.at.size, i), dr);
      by_columns[i] = -dr.dot(y);
    }
    EXPECT_LT(relative_difference(z_bar, by_columns), 1e-11) << "seed " << seed;
  }
}

TEST(smooth_residual, jacobians_are_its_columns) {
  for (int seed = 0; seed < 60; ++seed) {
    ResidualCase c(seed, true);
    const int nv = c.model.nv();
    RowMatrix by_q = RowMatrix::Zero(nv, nv), by_v = by_q;
    RowMatrix by_w = RowMatrix::Zero(nv, c.model.na()), by_u = RowMatrix::Zero(nv, c.model.nu());
    c.residual.jacobians(1.0, {by_q.data(), by_v.data(), nv, 1});
    c.residual.input_jacobians(1.0, by_w, by_u);
    MatrixX J(nv, c.at.force), columns(nv, c.at.force);
    J << by_q, by_v, by_w, by_u;
    for (int i = 0; i < c.at.force; ++i) {
      VectorX dr(nv);
      c.residual.along(VectorX::Unit(c.at.size, i), dr);
      columns.col(i) = dr;
    }
    EXPECT_LT(relative_difference(J, columns), 1e-11) << "seed " << seed;
  }
}

TEST(smooth_residual, does_not_allocate) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  ResidualCase c(8, true);
  const int nv = c.model.nv();
  RowMatrix by_q = RowMatrix::Zero(nv, nv), by_v = by_q;
  const VectorX dz = uniform_vector(c.random, c.at.size), y = uniform_vector(c.random, nv);
  VectorX dr(nv), z_bar = VectorX::Zero(c.at.size);
  EXPECT_EQ(allocations_during([&] {
              c.residual.prepare(c.model, c.data, c.work, c.settings, c.acceleration);
              c.residual.hold_forces();
              c.residual.jacobians(1.0, {by_q.data(), by_v.data(), nv, 1});
              c.residual.along(dz, dr);
              c.residual.against(y, z_bar);
            }),
            0U);
}

}  // namespace
}  // namespace articula::testing::smooth_residual_test
