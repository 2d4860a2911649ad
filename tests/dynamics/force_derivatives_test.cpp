// Applied forces differentiated with respect to everything they depend on.

#include "articula/dynamics/force_derivatives.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "articula/dynamics/force_switches.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/log_cholesky.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_forces.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::force_derivatives_test {
namespace {

struct Offsets {
  int q = 0, v, w, u, dt, theta, size;
  explicit Offsets(const Model& m)
      : v(m.nv()),
        w(2 * m.nv()),
        u(w + m.na()),
        dt(u + m.nu()),
        theta(dt + 1),
        size(theta + static_cast<int>(m.theta().size())) {}
};

// On which side of every kink the forces are.
std::vector<int> sides_of(const std::vector<ForceSwitch>& switches) {
  std::vector<int> sides;
  for (const ForceSwitch& each : switches) sides.push_back(each.side);
  return sides;
}

struct ForceCase {
  std::mt19937 random;
  Model model;
  Offsets at;
  Data data;
  ForceWork forces;
  ForceDerivativeWork work;
  RneaDerivativeWork rnea_work;
  ParameterWork parameters;
  RandomState x;
  RandomInputs inputs;
  double dt = 0.03;

  ForceCase(int seed, bool limits) : ForceCase(random_force_model(seed, limits), seed) {}
  ForceCase(Model built, int seed)
      : random(static_cast<unsigned>(seed)),
        model(std::move(built)),
        at(model),
        data(model),
        forces(model),
        work(model),
        rnea_work(model),
        parameters(model),
        x(random_state(model, random)),
        inputs(random_inputs(model, random)) {
    prepare();
  }
  ForceCase(const ForceCase&) = delete;

  void prepare() {
    VectorX tau(model.nv());
    rnea(model, data, x.q, x.v, x.a, tau);
    applied_forces(model, data, forces, x.q, x.v, inputs.activation, inputs.control, dt);
    prepare_rnea_products(model, data, rnea_work, x.v.data(), x.a.data(), {});
    prepare_parameter_derivatives(model, data, parameters, x.q, {});
  }
  ForceArguments arguments() const {
    return {x.q.data(), x.v.data(), inputs.activation.data(), inputs.control.data(), dt};
  }

  // (tau, slope) disturbed, and on which side of the kinks.
  VectorX disturbed(const VectorX& dz, double t, std::vector<int>* sides = nullptr) const {
    const int nv = model.nv();
    VectorX q(model.nq());
    integrate(model, x.q, dz.segment(at.q, nv), t, q);
    const VectorX v = x.v + t * dz.segment(at.v, nv),
                  w = inputs.activation + t * dz.segment(at.w, model.na());
    const VectorX u = inputs.control + t * dz.segment(at.u, model.nu());
    const Model changed = model.with(model.theta() + t * dz.tail(model.theta().size()));
    Data fresh(changed);
    ForceWork fresh_forces(changed);
    forward_kinematics(changed, fresh, q);
    propagate_motion(changed, fresh, v.data(), nullptr);
    applied_forces(changed, fresh, fresh_forces, q, v, w, u, dt + t * dz[at.dt]);
    if (sides != nullptr) {
      std::vector<ForceSwitch> switches;
      force_switches(changed, fresh, fresh_forces, {q.data(), v.data(), w.data(), u.data(), dt}, switches);
      *sides = sides_of(switches);
    }
    VectorX out(2 * nv);
    out << fresh_forces.tau, fresh_forces.slope;
    return out;
  }

  // The longest of a few first steps that stays on one side of all kinks; 0: none.
  double first_step(const VectorX& dz, double longest) const {
    std::vector<int> here, there;
    disturbed(dz, 0.0, &here);
    for (double step = longest; step > 1e-5 * longest; step *= 0.3) {
      bool same = true;
      for (const double part : {-1.0, -0.5, 0.5, 1.0}) {
        try {
          disturbed(dz, part * step, &there);
          same = same && there == here;
        } catch (const Error&) {  // no real body any more
          same = false;
        }
      }
      if (same) return step;
    }
    return 0.0;
  }

  VectorX along(const VectorX& dz) {
    const ForceDirection direction{dz.data() + at.q, dz.data() + at.v, dz.data() + at.w,
                                   dz.data() + at.u, dz[at.dt],        dz.data() + at.theta};
    VectorX dtau(model.nv()), dslope(model.nv()), out(2 * model.nv());
    forces_directional(model, data, forces, work, arguments(), &parameters, direction, dtau, dslope);
    out << dtau, dslope;
    return out;
  }
};

struct Block {
  const char* name;
  std::function<void(ForceCase&, VectorX&)> fill;
  double step;
};

void fill_kind(ForceCase& c, VectorX& dz, ParameterKind kind) {
  for (const ParameterSlice& slice : c.model.parameters().of_kind(kind)) {
    auto direction = dz.segment(c.at.theta + slice.offset, slice.size);
    direction = uniform_vector(c.random, slice.size);
    if (kind != ParameterKind::inertia) continue;
    // A deformation of the body: it stays real, to first order.
    const InertialVector pi = c.model.theta().segment<10>(slice.offset);
    direction = log_cholesky_jacobian(to_log_cholesky(pi)) * direction;
  }
}

Block kind_block(const char* name, ParameterKind kind, double step) {
  return {name, [kind](ForceCase& c, VectorX& dz) { fill_kind(c, dz, kind); }, step};
}

std::vector<Block> blocks() {
  const auto part = [](int Offsets::* begin, int Offsets::* end) {
    return [begin, end](ForceCase& c, VectorX& dz) {
      dz.segment(c.at.*begin, c.at.*end - c.at.*begin) = uniform_vector(c.random, c.at.*end - c.at.*begin);
    };
  };
  return {{"q", part(&Offsets::q, &Offsets::v), 1e-1},
          {"v", part(&Offsets::v, &Offsets::w), 1.0},
          {"activation", part(&Offsets::w, &Offsets::u), 1.0},
          {"control", part(&Offsets::u, &Offsets::dt), 1.0},
          {"dt", part(&Offsets::dt, &Offsets::theta), 1e-2},
          kind_block("gains", ParameterKind::gains, 1e-1),
          kind_block("stiffness", ParameterKind::stiffness, 1e-1),
          kind_block("damping", ParameterKind::damping, 1e-1),
          kind_block("medium", ParameterKind::medium, 1e-1),
          kind_block("gravity", ParameterKind::gravity, 1.0),
          kind_block("inertia", ParameterKind::inertia, 1e-1),
          kind_block("placement", ParameterKind::placement, 1e-1)};
}

// The norm of derivative_error, less what the differences themselves are uncertain by: a small derivative of
// a large force drowns in its rounding.
double error_beyond_noise(const VectorX& derivative, const Differences& reference) {
  const VectorX beyond =
      ((derivative - reference.derivative).cwiseAbs() - 4.0 * reference.error).cwiseMax(0.0);
  return derivative_error(reference.derivative + beyond, reference.derivative);
}

// All blocks of one robot; returns how many had no step free of kinks.
int expect_blocks_agree(ForceCase& c, const std::string& what) {
  int left_out = 0;
  for (const Block& block : blocks()) {
    VectorX dz = VectorX::Zero(c.at.size);
    block.fill(c, dz);
    const double step = c.first_step(dz, block.step);
    if (step == 0.0) {
      ++left_out;
      continue;
    }
    const Differences reference = ridders_differences([&](double t) { return c.disturbed(dz, t); },
                                                      {step, 0.2 * step, 0.04 * step, 0.01 * step});
    EXPECT_LT(error_beyond_noise(c.along(dz), reference), 1e-7) << what << " " << block.name;
  }
  return left_out;
}

TEST(force_derivatives, along_everything_are_those_of_differences) {
  const int robots = cases(40, 500);
  for (int seed = 0; seed < robots; ++seed) {
    ForceCase c(seed, false);
    EXPECT_LE(expect_blocks_agree(c, fmt::format("seed {}", seed)), 2) << seed;
  }
}

TEST(force_derivatives, are_those_of_the_limited_side_where_limits_hold) {
  const int robots = cases(40, 500);
  int left_out = 0;
  for (int seed = 0; seed < robots; ++seed) {
    ForceCase c(seed, true);
    left_out += expect_blocks_agree(c, fmt::format("seed {}", seed));
  }
  EXPECT_LE(left_out, robots);  // of twelve blocks each
}

void expect_transpose(ForceCase& c, int seed) {
  const int nv = c.model.nv();
  const VectorX bar = uniform_vector(c.random, 2 * nv);
  VectorX z_bar = VectorX::Zero(c.at.size), by_columns(c.at.size);
  ForceGradient to{
      z_bar.data() + c.at.q,    z_bar.data() + c.at.v, z_bar.data() + c.at.w, z_bar.data() + c.at.u, 0.0,
      z_bar.data() + c.at.theta};
  forces_adjoint(c.model, c.data, c.forces, c.work, c.arguments(), &c.parameters, bar.head(nv), bar.tail(nv),
                 to);
  z_bar[c.at.dt] = to.dt;
  for (int i = 0; i < c.at.size; ++i) by_columns[i] = c.along(VectorX::Unit(c.at.size, i)).dot(bar);
  for (const ParameterSlice& slice : c.model.parameters().slices()) {
    const int at = c.at.theta + slice.offset;
    EXPECT_LT(product_difference(z_bar.segment(at, slice.size), by_columns.segment(at, slice.size)), 1e-10)
        << seed << " " << slice.name;
  }
  EXPECT_LT(product_difference(z_bar.head(c.at.theta), by_columns.head(c.at.theta)), 1e-11) << seed;
  EXPECT_LT(relative_difference(z_bar, by_columns), 1e-11) << "seed " << seed;
}

TEST(force_derivatives, against_a_covector_are_the_transpose) {
  for (int seed = 0; seed < 100; ++seed) {
    ForceCase c(seed, seed % 2 == 0);
    expect_transpose(c, seed);
  }
}

// A ball's angle and that of a frame about another are the same a turn later.
Model turning_servos() {
  Description d;
  BodyDescription body;
  body.name = "body";
  body.joints = {JointDescription{.name = "ball", .type = JointType::ball}};
  body.inertia = {.mass = 1.0, .com = Vector3(0.1, 0.2, 0.3), .inertia = Vector3(2.0, 3.0, 4.0).asDiagonal()};
  d.bodies.push_back(body);
  d.frames = {FrameDescription{.name = "tip", .body = "body"},
              FrameDescription{.name = "base", .body = "world"}};
  ActuatorDescription servo;
  servo.target = "ball";
  servo.gear = {0.3, -0.2, 0.4, 0, 0, 0};
  servo.gain = {5.0, 0, 0};
  servo.bias = {0, -5.0, -0.3};
  d.actuators.push_back(servo);
  servo.transmission = TransmissionType::joint_in_parent;
  d.actuators.push_back(servo);
  servo.transmission = TransmissionType::frame;
  servo.target = "tip";
  servo.reference_frame = "base";
  servo.gear = {0, 0, 0, 0.1, 0.3, -0.5};
  d.actuators.push_back(servo);
  return build(d);
}

TEST(force_derivatives, of_servos_that_go_the_short_way_round) {
  for (int seed = 0; seed < 10; ++seed) {
    ForceCase c(turning_servos(), seed);
    c.inputs.control << 5.0, -9.0, 7.0;
    c.prepare();
    EXPECT_EQ(c.forces.turning.size(), 3u);
    EXPECT_GT(c.forces.turns.cwiseAbs().minCoeff(), 0.0) << seed;
    for (int i = 0; i < 3; ++i) {
      const double half_turn =
          std::numbers::pi * Vector3(c.model.theta().segment<3>(c.forces.turning[i].gear)).norm();
      EXPECT_LE(std::abs(c.forces.input[i] - c.forces.length[i]), half_turn * (1 + 1e-12)) << seed;
    }
    EXPECT_LE(expect_blocks_agree(c, fmt::format("seed {}", seed)), 4) << seed;
    expect_transpose(c, seed);
  }
}

TEST(force_derivatives, jacobians_are_their_columns) {
  for (int seed = 0; seed < 100; ++seed) {
    ForceCase c(seed, seed % 2 == 0);
    const int nv = c.model.nv();
    const VectorX weight = uniform_vector(c.random, nv);
    RowMatrix by_q = RowMatrix::Zero(nv, nv), by_v = by_q;
    MatrixX by_q_columns = MatrixX::Zero(nv, nv), by_v_columns = by_q_columns;
    RowMatrix by_u = RowMatrix::Zero(nv, c.model.nu()), by_w = RowMatrix::Zero(nv, c.model.na());
    add_force_jacobians(c.model, c.data, c.forces, c.work, c.arguments(), 1.0,
                        {by_q.data(), by_v.data(), nv, 1});
    add_force_jacobians(c.model, c.data, c.forces, c.work, c.arguments(), -2.0,
                        {by_q_columns.data(), by_v_columns.data(), 1, nv});
    add_force_input_jacobians(c.model, c.data, c.forces, c.work, c.arguments(), weight, 1.0, by_u, by_w);
    EXPECT_LT((by_q_columns + 2.0 * by_q).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((by_v_columns + 2.0 * by_v).cwiseAbs().maxCoeff(), 1e-12);
    const auto columns = [&](int begin, Eigen::Index count) {
      MatrixX J(nv, count);
      for (Eigen::Index i = 0; i < count; ++i) {
        const VectorX change = c.along(VectorX::Unit(c.at.size, begin + i));
        J.col(i) = change.head(nv);
        if (begin >= c.at.w) J.col(i) -= change.tail(nv).cwiseProduct(weight);
      }
      return J;
    };
    EXPECT_LT(relative_difference(by_q, columns(c.at.q, nv)), 1e-12) << "q, seed " << seed;
    EXPECT_LT(relative_difference(by_v, columns(c.at.v, nv)), 1e-12) << "v, seed " << seed;
    EXPECT_LT(relative_difference(by_u, columns(c.at.u, c.model.nu())), 1e-12) << "u, seed " << seed;
    EXPECT_LT(relative_difference(by_w, columns(c.at.w, c.model.na())), 1e-12) << "w, seed " << seed;
  }
}

// Moving one control through the ends of its range.
TEST(force_switches, tell_the_side_and_how_far_the_end_is) {
  Description d;
  BodyDescription body;
  body.joints = {JointDescription{.name = "slide", .type = JointType::slide}};
  body.inertia.mass = 1.0;
  d.bodies.push_back(body);
  ActuatorDescription motor;
  motor.target = "slide";
  motor.gain = {3.0, 0, 0};
  motor.control_range = Vector2(-1.0, 2.0);
  motor.force_range = Vector2(-10.0, 4.5);
  d.actuators.push_back(motor);
  const Model model = build(d);
  Data data(model);
  ForceWork forces(model);
  std::vector<ForceSwitch> switches;
  const VectorX zero = VectorX::Zero(1), none;
  const auto at = [&](double u) {
    const VectorX control = VectorX::Constant(1, u);
    forward_kinematics(model, data, zero);
    propagate_motion(model, data, zero.data(), nullptr);
    applied_forces(model, data, forces, zero, zero, none, control, 0.01);
    force_switches(model, data, forces, {zero.data(), zero.data(), none.data(), control.data(), 0.01},
                   switches);
    return sides_of(switches);
  };
  EXPECT_EQ(at(0.5), (std::vector{0, 0}));
  EXPECT_DOUBLE_EQ(switches[0].margin, 1.5);
  EXPECT_DOUBLE_EQ(switches[1].margin, 3.0);
  EXPECT_EQ(at(1.75), (std::vector{0, 1}));
  EXPECT_DOUBLE_EQ(switches[1].margin, 0.75);
  EXPECT_EQ(at(2.0), (std::vector{1, 1}));
  EXPECT_EQ(at(-3.0), (std::vector{-1, 0}));
  EXPECT_DOUBLE_EQ(switches[0].margin, 2.0);
}

TEST(force_derivatives, do_not_allocate) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  ForceCase c(7, true);
  const int nv = c.model.nv();
  const VectorX dz = uniform_vector(c.random, c.at.size), bar = uniform_vector(c.random, nv);
  const ForceDirection direction{dz.data() + c.at.q, dz.data() + c.at.v, dz.data() + c.at.w,
                                 dz.data() + c.at.u, dz[c.at.dt],        dz.data() + c.at.theta};
  VectorX dtau(nv), dslope(nv), z_bar = VectorX::Zero(c.at.size);
  ForceGradient to{
      z_bar.data() + c.at.q,    z_bar.data() + c.at.v, z_bar.data() + c.at.w, z_bar.data() + c.at.u, 0.0,
      z_bar.data() + c.at.theta};
  RowMatrix by_q = RowMatrix::Zero(nv, nv), by_v = by_q;
  RowMatrix by_u = RowMatrix::Zero(nv, c.model.nu()), by_w = RowMatrix::Zero(nv, c.model.na());
  EXPECT_EQ(allocations_during([&] {
              forces_directional(c.model, c.data, c.forces, c.work, c.arguments(), &c.parameters, direction,
                                 dtau, dslope);
              forces_adjoint(c.model, c.data, c.forces, c.work, c.arguments(), &c.parameters, bar, bar, to);
              add_force_jacobians(c.model, c.data, c.forces, c.work, c.arguments(), 1.0,
                                  {by_q.data(), by_v.data(), nv, 1});
              add_force_input_jacobians(c.model, c.data, c.forces, c.work, c.arguments(), bar, 1.0, by_u,
                                        by_w);
            }),
            0U);
}

}  // namespace
}  // namespace articula::testing::force_derivatives_test
