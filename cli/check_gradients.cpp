#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <random>

#include "articula/derivatives/contact_free.hpp"
#include "articula/derivatives/differences.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/manifold.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

struct Options {
  std::string model;
  int states = 20, seed = 1;
  double tolerance = 1e-7;
  bool json = false, full = false;
};

// One step from one state, and the same step with anything that goes in disturbed.
struct StepUnderTest {
  const Model& model;
  Data data;
  ContactFreeWork work;
  ContactFreeDerivatives derivatives;
  ContactFreeSettings settings;
  State start;
  VectorX tau, q_end;

  explicit StepUnderTest(const Model& m)
      : model(m),
        data(m),
        work(m),
        derivatives(m),
        start(neutral_state(m)),
        tau(VectorX::Zero(m.nv())) {
    settings.dt = m.timestep();
  }

  bool take() {
    State state = start;
    if (contact_free_step(model, data, work, settings, tau, state) != StepStatus::ok) return false;
    q_end = state.q;
    derivatives.prepare(model, data, work, settings);
    return true;
  }

  // x+ for z + t dz, in the tangent space at the undisturbed result.
  VectorX disturbed(const VectorX& dz, double t) const {
    const int nv = model.nv();
    const Eigen::Index ntheta = model.theta().size();
    VectorX theta = model.theta() + t * dz.tail(ntheta);
    ContactFreeSettings changed_settings = settings;
    changed_settings.dt += t * dz[3 * nv + model.structure().timestep];
    theta[model.structure().timestep] = model.timestep();
    const bool changed = !dz.tail(ntheta).isZero(0.0);
    if (changed) return disturbed_model(model.with(theta), changed_settings, dz, t);
    return disturbed_model(model, changed_settings, dz, t);
  }

  VectorX disturbed_model(const Model& variant, const ContactFreeSettings& changed_settings,
                          const VectorX& dz, double t) const {
    const int nv = model.nv();
    Data fresh(variant);
    ContactFreeWork fresh_work(variant);
    State state = start;
    integrate(model, start.q, dz.head(nv), t, state.q);
    state.v += t * dz.segment(nv, nv);
    const VectorX force = tau + t * dz.segment(2 * nv, nv);
    VectorX x = VectorX::Constant(2 * nv, NAN), moved(nv);
    if (contact_free_step(variant, fresh, fresh_work, changed_settings, force, state) != StepStatus::ok) {
      return x;
    }
    difference(model, q_end, state.q, moved);
    x << moved, state.v;
    return x;
  }

  VectorX along(const VectorX& dz) {
    VectorX w(model.nv()), dx(2 * model.nv());
    push_forward(derivatives, dz, w, dx);
    return dx;
  }
};

struct Block {
  std::string name;
  int states = 0, left_out = 0, nonzero = 0;
  double worst = 0.0;

  // Columns of derivatives against their references, together: the norm is relative to the whole block.
  void compare(const MatrixX& derivative, const MatrixX& reference) {
    if (!reference.allFinite()) {
      ++left_out;
      return;
    }
    ++states;
    if (reference.cwiseAbs().maxCoeff() > 1e-12) ++nonzero;
    worst = std::max(worst, relative_error(derivative, reference));
  }
};

// First steps of the differences: 1e-4 times the scale of the direction, and longer ones for what is smooth
// enough to bear them; the differences' own error estimate decides.
MatrixX reference(const StepUnderTest& step, const MatrixX& directions) {
  MatrixX columns(2 * step.model.nv(), directions.cols());
  for (Eigen::Index i = 0; i < directions.cols(); ++i) {
    const VectorX dz = directions.col(i);
    const auto disturbed = [&](double t) -> VectorX {
      try {
        return step.disturbed(dz, t);
      } catch (const articula::Error&) {  // no real body any more: this step is too long
        return VectorX::Constant(columns.rows(), NAN);
      }
    };
    columns.col(i) = ridders_differences(disturbed, {1e-4, 1e-3, 1e-2, 1e-1, 1.0}).derivative;
  }
  return columns;
}

MatrixX derivative(StepUnderTest& step, const MatrixX& directions) {
  MatrixX columns(2 * step.model.nv(), directions.cols());
  for (Eigen::Index i = 0; i < directions.cols(); ++i) columns.col(i) = step.along(directions.col(i));
  return columns;
}

// A direction in which the body stays real: its pseudo-inertia J = [S h; h^T m], S = tr(I)/2 1 - I, is
// deformed to (1 + t A) J (1 + t A)^T, to first order.
InertialVector real_direction(const ConstVectorRef& pi, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix3 I;
  I << pi[4], pi[5], pi[6], pi[5], pi[7], pi[8], pi[6], pi[8], pi[9];
  Eigen::Matrix4d J, A;
  J << 0.5 * I.trace() * Matrix3::Identity() - I, pi.segment<3>(1), pi.segment<3>(1).transpose(), pi[0];
  for (double& x : A.reshaped()) x = uniform(random);
  const Eigen::Matrix4d dJ = A * J + J * A.transpose();
  const Matrix3 dS = dJ.topLeftCorner<3, 3>(), dI = dS.trace() * Matrix3::Identity() - dS;
  InertialVector direction;
  direction << dJ(3, 3), dJ.topRightCorner<3, 1>(), dI(0, 0), dI(0, 1), dI(0, 2), dI(1, 1), dI(1, 2),
      dI(2, 2);
  return direction;
}

// What makes a difference at each dof: its inertia in the neutral configuration.
VectorX felt_inertia(const Model& model) {
  Data data(model);
  crba(model, data, model.neutral_configuration());
  VectorX felt(model.nv());
  for (int d = 0; d < model.nv(); ++d) {
    const DofIndex& dof = model.structure().dofs[d];
    felt[d] = data.mass[dof.row + dof.depth];
  }
  return felt;
}

// How large a change of each parameter may be: as the number itself, or where that is small, enough to
// matter beside the inertia that the joint moves.
VectorX parameter_scales(const Model& model, const VectorX& felt) {
  VectorX scales = VectorX::Zero(model.theta().size());
  for (const ParameterSlice& slice : model.parameters().slices()) {
    const double least = slice.kind == ParameterKind::dt        ? 0.0
                         : slice.kind == ParameterKind::gravity ? 100.0
                                                                : 0.1;
    const double largest = model.theta().segment(slice.offset, slice.size).cwiseAbs().maxCoeff();
    scales.segment(slice.offset, slice.size).setConstant(std::max(largest, least));
  }
  for (size_t j = 0; j < model.structure().joints.size(); ++j) {
    const JointIndex& joint = model.structure().joints[j];
    const int end =
        j + 1 < model.structure().joints.size() ? model.structure().joints[j + 1].dof : model.nv();
    const double inertia = felt.segment(joint.dof, end - joint.dof).minCoeff();
    scales[joint.armature] = 0.3 * inertia;
    scales[joint.damping] = std::max(model.theta()[joint.damping], 10.0 * inertia);
    scales[joint.stiffness] = std::max(model.theta()[joint.stiffness], 1000.0 * inertia);
  }
  return scales;
}

// Eight random directions among the parameters of one kind, each number to its own scale.
MatrixX parameter_directions(const Model& model, ParameterKind kind, const VectorX& scales,
                             std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const std::vector<ParameterSlice> slices = model.parameters().of_kind(kind);
  if (slices.empty()) return {};
  const int before = 3 * model.nv();
  MatrixX directions = MatrixX::Zero(before + model.theta().size(), 8);
  for (const ParameterSlice& slice : slices) {
    for (int c = 0; c < 8; ++c) {
      auto direction = directions.col(c).segment(before + slice.offset, slice.size);
      if (kind == ParameterKind::inertia) {
        direction = real_direction(model.theta().segment(slice.offset, slice.size), random);
      } else {
        for (int i = 0; i < slice.size; ++i) direction[i] = scales[slice.offset + i] * uniform(random);
      }
    }
  }
  return directions;
}

// On along a trajectory in flight, under random forces; back to rest where it gets wild.
void move_on(StepUnderTest& step, const VectorX& felt, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Model& model = step.model;
  VectorX away(model.nv());
  for (double& x : away) x = 0.3 * normal(random);
  if (!step.start.v.allFinite() || step.start.v.cwiseAbs().maxCoeff() > 20.0)
    step.start = neutral_state(model);
  integrate(model, step.start.q, away, 1.0, step.start.q);
  for (int d = 0; d < model.nv(); ++d) step.tau[d] = 10.0 * felt[d] * normal(random);
  for (double& x : step.start.v) x += normal(random);
  for (int i = 0; i < 5; ++i) {
    contact_free_step(model, step.data, step.work, step.settings, step.tau, step.start);
  }
}

std::vector<Block> check(const Model& model, const Options& options) {
  std::mt19937 random(static_cast<unsigned>(options.seed));
  StepUnderTest step(model);
  const VectorX felt = felt_inertia(model), scales = parameter_scales(model, felt);
  const int nv = model.nv(), inputs = step.derivatives.inputs(), states = options.full ? 500 : options.states;
  const std::vector<ParameterKind> kinds = {
      ParameterKind::inertia,  ParameterKind::placement, ParameterKind::damping, ParameterKind::stiffness,
      ParameterKind::armature, ParameterKind::gravity,   ParameterKind::dt};
  std::vector<Block> blocks{{.name = "state"}, {.name = "force"}};
  for (const ParameterKind kind : kinds) blocks.push_back({.name = std::string(to_string(kind))});
  Progress progress("checking gradients", static_cast<size_t>(states));
  for (int i = 0; i < states; ++i) {
    move_on(step, felt, random);
    progress.advance();
    if (!step.take()) {
      for (Block& block : blocks) ++block.left_out;
      continue;
    }
    const auto compare = [&](Block& block, const MatrixX& directions) {
      if (directions.size() > 0) block.compare(derivative(step, directions), reference(step, directions));
    };
    compare(blocks[0], MatrixX::Identity(inputs, 2 * nv));
    MatrixX forces = MatrixX::Zero(inputs, nv);
    forces.middleRows(2 * nv, nv).diagonal() = 100.0 * felt;
    compare(blocks[1], forces);
    for (size_t k = 0; k < kinds.size(); ++k) {
      compare(blocks[2 + k], parameter_directions(model, kinds[k], scales, random));
    }
  }
  return blocks;
}

void run(const Options& options) {
  const Model model = load(options.model);
  if (model.nv() == 0) throw articula::Error(fmt::format("'{}' has nothing that moves", options.model));
  Report report;
  bool good = true;
  for (const Block& block : check(model, options)) {
    const std::string row = fmt::format("{}/contact_free/{}", options.model, block.name);
    report.add(row + "/max_relative_error", block.worst, "1");
    report.add(row + "/max_relative_error_frozen", block.worst, "1");
    report.add(row + "/states", block.states, "count");
    report.add(row + "/states_in_contact", 0, "count");
    report.add(row + "/left_out", block.left_out, "count");
    report.add(row + "/nonzero_states", block.nonzero, "count");
    good = good && block.worst <= options.tolerance;
  }
  report.note("in flight there are no contact modes to freeze: both errors are of the same step");
  report.note("force: the generalised forces at the joints");
  print(report, options.json);
  if (!good) throw Failure(fmt::format("an error exceeds the tolerance {:g}", options.tolerance));
}

}  // namespace

void add_check_gradients(CLI::App& app) {
  CLI::App* command = app.add_subcommand("check-gradients",
                                         "Derivatives of a step against Ridders' extrapolated differences");
  const auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "A file, or a built-in model's name")->required();
  command->add_option("--states", options->states, "How many states along a trajectory")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->seed, "Of the trajectory");
  command->add_option("--tolerance", options->tolerance, "Largest error that passes")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->add_flag("--full", options->full, "The acceptance size: 500 states");
  command->callback([options] { run(*options); });
}

}  // namespace articula::cli
