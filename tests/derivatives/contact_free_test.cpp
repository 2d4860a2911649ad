// The contact-free step differentiated with respect to everything that goes in.

#include "articula/derivatives/contact_free.hpp"

#include <gtest/gtest.h>

#include "articula/dynamics/force_switches.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/log_cholesky.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_forces.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::contact_free_test {
namespace {

struct StepCase {
  std::mt19937 random;
  Model model;
  Data data;
  ContactFreeWork work;
  ContactFreeDerivatives derivatives;
  StepInputs at;
  StepSettings settings;
  State start;
  Input input;
  VectorX q_end;
  std::vector<int> sides;

  explicit StepCase(Model built, int seed)
      : random(static_cast<unsigned>(seed)),
        model(std::move(built)),
        data(model),
        work(model),
        derivatives(model),
        at(model) {
    const RandomState x = random_state(model, random);
    const RandomInputs inputs = random_inputs(model, random);
    start = {x.q, x.v, inputs.activation, 0.0};
    input.controls = inputs.control;
    input.forces = uniform_vector(random, model.nv(), 5.0);
    if (seed % 2 == 0) {
      input.wrenches = Matrix6X::Zero(6, model.nbody());
      for (int b = 1; b < model.nbody(); ++b) input.wrenches.col(b) = uniform_vector(random, 6, 2.0);
    }
    settings.dt = 0.05;
    settings.implicit_gyroscopic = seed % 3 != 0;
    take();
  }
  StepCase(const StepCase&) = delete;

  void take() {
    State state = start;
    EXPECT_EQ(contact_free_step(model, data, work, settings, input, state), StepStatus::ok);
    q_end = state.q;
    sides = sides_of(model, data, work, settings.dt);
    derivatives.prepare(model, data, work, settings);
  }

  // On which side of the kinks of its forces a step is: differences must not cross them.
  std::vector<int> sides_of(const Model& of, const Data& at_data, const ContactFreeWork& at_work,
                            double dt) const {
    const Structure& s = model.structure();
    const bool drag = model.theta()[s.density] != 0.0 || model.theta()[s.viscosity] != 0.0;
    std::vector<ForceSwitch> switches;
    const FreeMotionWork& free = at_work.free;
    force_switches(of, at_data, free.forces,
                   {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt}, switches);
    std::vector<int> found;
    for (const ForceSwitch& each : switches) {
      if (drag || each.kind != ForceSwitch::Kind::drag_direction) found.push_back(each.side);
    }
    return found;
  }

  // x+ for z + t dz, in the tangent space at the undisturbed result.
  VectorX disturbed(const VectorX& dz, double t) const {
    VectorX theta = model.theta() + t * dz.tail(model.theta().size());
    theta[model.structure().timestep] = model.timestep();
    try {
      return disturbed_model(model.with(theta), dz, t);
    } catch (const Error&) {  // no real body any more
      return VectorX::Constant(derivatives.outputs(), NAN);
    }
  }

  VectorX disturbed_model(const Model& changed, const VectorX& dz, double t) const {
    const int nv = model.nv();
    Data fresh(changed);
    ContactFreeWork fresh_work(changed);
    StepSettings changed_settings = settings;
    changed_settings.dt += t * dz[at.theta + model.structure().timestep];
    State state = start;
    integrate(model, start.q, dz.segment(at.q, nv), t, state.q);
    state.v += t * dz.segment(at.v, nv);
    state.activation += t * dz.segment(at.activation, model.na());
    Input changed_input = input;
    changed_input.controls += t * dz.segment(at.control, model.nu());
    changed_input.forces += t * dz.segment(at.force, nv);
    if (input.wrenches.cols() == 0) changed_input.wrenches = Matrix6X::Zero(6, model.nbody());
    changed_input.wrenches.reshaped() += t * dz.segment(at.wrench, 6 * model.nbody());
    EXPECT_EQ(contact_free_step(changed, fresh, fresh_work, changed_settings, changed_input, state),
              StepStatus::ok);
    VectorX x = VectorX::Constant(2 * nv + model.na(), NAN), moved(nv);
    if (sides_of(changed, fresh, fresh_work, changed_settings.dt) != sides) return x;
    difference(model, q_end, state.q, moved);
    x << moved, state.v, state.activation;
    return x;
  }

  VectorX along(const VectorX& dz) {
    VectorX w(model.nv()), dx(derivatives.outputs());
    push_forward(derivatives, dz, w, dx);
    return dx;
  }
};

Model step_tree(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 500);
  return random_model(random, {.bodies = 1 + seed % 10, .chain = seed % 10 == 9, .weld_probability = 0.2});
}

int robots() { return cases(40, 200); }

// The norm of relative_error, less what the differences themselves are uncertain by.
double error_beyond_noise(const MatrixX& derivative, const MatrixX& reference, const MatrixX& noise) {
  const MatrixX beyond = ((derivative - reference).cwiseAbs() - 4.0 * noise).cwiseMax(0.0);
  return derivative_error(reference + beyond, reference);
}

TEST(contact_free_derivatives, along_state_controls_and_forces_are_those_of_differences) {
  for (int seed = 0; seed < robots(); ++seed) {
    StepCase c(seed % 2 == 0 ? step_tree(seed) : random_force_model(seed, false), seed);
    const int nv = c.model.nv(), n = c.derivatives.outputs(), columns = c.at.wrench;
    MatrixX by_state(n, n), by_control(n, c.model.nu()), by_force(n, nv);
    c.derivatives.jacobians(by_state, by_control, by_force);
    MatrixX J(n, columns), reference(n, columns), noise(n, columns);
    J << by_state, by_control, by_force;
    for (int i = 0; i < columns; ++i) {
      const VectorX dz = VectorX::Unit(c.at.size, i);
      const Differences differences =
          ridders_differences([&](double t) { return c.disturbed(dz, t); }, {1.0, 5e-2, 1e-3});
      reference.col(i) = differences.derivative;
      noise.col(i) = differences.error;
    }
    EXPECT_LT(error_beyond_noise(by_state, reference.leftCols(n), noise.leftCols(n)), 1e-7)
        << "seed " << seed;
    EXPECT_LT(error_beyond_noise(J, reference, noise), 1e-7) << "seed " << seed;
  }
}

TEST(contact_free_derivatives, along_every_kind_of_parameter_are_those_of_differences) {
  int left_out = 0;
  for (int seed = 0; seed < robots(); ++seed) {
    StepCase c(seed % 2 == 0 ? step_tree(seed) : random_force_model(seed, false), seed);
    for (const ParameterKind kind :
         {ParameterKind::inertia, ParameterKind::placement, ParameterKind::armature, ParameterKind::damping,
          ParameterKind::stiffness, ParameterKind::gains, ParameterKind::medium, ParameterKind::gravity,
          ParameterKind::dt}) {
      VectorX dz = VectorX::Zero(c.derivatives.inputs());
      for (const ParameterSlice& slice : c.model.parameters().of_kind(kind)) {
        // Armature of a tendon over several joints is refused.
        if (kind == ParameterKind::armature && slice.name.starts_with("tendon")) continue;
        auto direction = dz.segment(c.at.theta + slice.offset, slice.size);
        direction = uniform_vector(c.random, slice.size);
        if (kind != ParameterKind::inertia) continue;
        const InertialVector pi = c.model.theta().segment<10>(slice.offset);
        direction = log_cholesky_jacobian(to_log_cholesky(pi)) * direction;
      }
      // Steps as large as the numbers bear: inertias stay real, M + h D positive; the weight is linear.
      const double step = kind == ParameterKind::gravity    ? 10.0
                          : kind == ParameterKind::armature ? 1e-3
                          : kind == ParameterKind::dt       ? 1e-3
                                                            : 2e-2;
      const Differences reference = ridders_differences([&](double t) { return c.disturbed(dz, t); },
                                                        {step, 0.1 * step, 1e-2 * step, 1e-3 * step});
      if (!reference.derivative.allFinite()) {  // a kink too near for differences
        ++left_out;
        continue;
      }
      EXPECT_LT(error_beyond_noise(c.along(dz), reference.derivative, reference.error), 1e-7)
          << "seed " << seed << " " << to_string(kind);
    }
  }
  EXPECT_LE(left_out, 5);  // of 1800
}

TEST(contact_free_derivatives, against_a_covector_are_the_transpose) {
  for (int seed = 0; seed < 200; ++seed) {
    StepCase c(seed % 2 == 0 ? step_tree(seed) : random_force_model(seed), seed);
    const int n = c.derivatives.outputs();
    const VectorX x_bar = uniform_vector(c.random, n);
    VectorX w(c.model.nv()), z_bar(c.derivatives.inputs()), by_columns(c.derivatives.inputs());
    pull_back(c.derivatives, x_bar, w, z_bar);
    for (int i = 0; i < z_bar.size(); ++i) {
      by_columns[i] = c.along(VectorX::Unit(z_bar.size(), i)).dot(x_bar);
    }
    EXPECT_LT(relative_difference(z_bar, by_columns), 1e-11) << "seed " << seed;
    MatrixX by_state(n, n), by_control(n, c.model.nu());
    c.derivatives.jacobians(by_state, by_control);
    EXPECT_LT(relative_difference(by_state.transpose() * x_bar, z_bar.head(n)), 1e-11) << seed;
    if (c.model.nu() == 0) continue;
    EXPECT_LT(product_difference(by_control.transpose() * x_bar, z_bar.segment(c.at.control, c.model.nu())),
              1e-11)
        << seed;
  }
}

TEST(contact_free_derivatives, do_not_allocate) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  StepCase c(random_force_model(4), 4);
  const int n = c.derivatives.outputs();
  MatrixX by_state(n, n), by_control(n, c.model.nu()), by_force(n, c.model.nv());
  const VectorX x_bar = uniform_vector(c.random, n), dz = uniform_vector(c.random, c.at.size);
  VectorX w(c.model.nv()), z_bar(c.at.size), dx(n);
  EXPECT_EQ(allocations_during([&] {
              c.derivatives.prepare(c.model, c.data, c.work, c.settings);
              c.derivatives.jacobians(by_state, by_control);
              c.derivatives.jacobians(by_state, by_control, by_force);
              push_forward(c.derivatives, dz, w, dx);
              pull_back(c.derivatives, x_bar, w, z_bar);
            }),
            0U);
  EXPECT_TRUE(z_bar.allFinite() && dx.allFinite() && by_state.allFinite() && by_control.allFinite());
}

}  // namespace
}  // namespace articula::testing::contact_free_test
