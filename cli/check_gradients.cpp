#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <random>

#include "articula/derivatives/contact_free.hpp"
#include "articula/derivatives/differences.hpp"
#include "articula/dynamics/force_switches.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/manifold.hpp"
#include "cli/command.hpp"
#include "cli/gradient_directions.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"

namespace articula::cli {
namespace {

// Seconds after which a run that is not full looks at no further state.
constexpr double budget = 35.0;

struct Options {
  std::string model;
  int states = 20, seed = 1;
  double tolerance = 1e-6;
  bool json = false, full = false;
};

// One step from one state, and the same step with anything that goes in disturbed.
struct StepUnderTest {
  const Model& model;
  Data data;
  ContactFreeWork work;
  ContactFreeDerivatives derivatives;
  StepInputs at;
  StepSettings settings;
  State start;
  Input input;
  VectorX q_end;
  std::vector<int> sides;

  explicit StepUnderTest(const Model& m)
      : model(m),
        data(m),
        work(m),
        derivatives(m),
        at(m),
        start(neutral_state(m)),
        input{.controls = VectorX::Zero(m.nu()), .forces = VectorX::Zero(m.nv())} {
    settings.dt = m.timestep();
  }

  bool take() {
    State state = start;
    if (contact_free_step(model, data, work, settings, input, state) != StepStatus::ok) return false;
    q_end = state.q;
    sides = sides_of(model, data, work, settings.dt);
    derivatives.prepare(model, data, work, settings);
    return true;
  }

  // On which side of the kinks of forces and activations a step is; differences must not cross them. What
  // rests in a medium may move either way: the second derivative of its drag jumps, not the first.
  static constexpr int either_side = 2;
  static std::vector<int> sides_of(const Model& model, const Data& data, const ContactFreeWork& work,
                                   double dt) {
    std::vector<ForceSwitch> switches;
    const FreeMotionWork& free = work.free;
    force_switches(model, data, free.forces,
                   {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt}, switches);
    std::vector<int> sides;
    for (const ForceSwitch& each : switches) {
      const bool still = each.kind == ForceSwitch::Kind::drag_direction && each.margin < 1e-9;
      sides.push_back(still ? either_side : each.side);
    }
    return sides;
  }

  bool crosses(const std::vector<int>& there) const {
    if (there.size() != sides.size()) return true;
    for (size_t i = 0; i < sides.size(); ++i) {
      if (sides[i] != there[i] && sides[i] != either_side) return true;
    }
    return false;
  }

  // x+ for z + t dz, in the tangent space at the undisturbed result.
  VectorX disturbed(const VectorX& dz, double t) const {
    const Eigen::Index ntheta = model.theta().size();
    VectorX theta = model.theta() + t * dz.tail(ntheta);
    StepSettings changed_settings = settings;
    changed_settings.dt += t * dz[at.theta + model.structure().timestep];
    theta[model.structure().timestep] = model.timestep();
    const bool changed = !dz.tail(ntheta).isZero(0.0);
    if (changed) return disturbed_model(model.with(theta), changed_settings, dz, t);
    return disturbed_model(model, changed_settings, dz, t);
  }

  VectorX disturbed_model(const Model& variant, const StepSettings& changed_settings, const VectorX& dz,
                          double t) const {
    const int nv = model.nv();
    Data fresh(variant);
    ContactFreeWork fresh_work(variant);
    State state = start;
    integrate(model, start.q, dz.segment(at.q, nv), t, state.q);
    state.v += t * dz.segment(at.v, nv);
    state.activation += t * dz.segment(at.activation, model.na());
    Input changed = input;
    changed.controls += t * dz.segment(at.control, model.nu());
    changed.forces += t * dz.segment(at.force, nv);
    VectorX x = VectorX::Constant(derivatives.outputs(), NAN), moved(nv);
    if (contact_free_step(variant, fresh, fresh_work, changed_settings, changed, state) != StepStatus::ok) {
      return x;
    }
    if (crosses(sides_of(variant, fresh, fresh_work, changed_settings.dt))) return x;
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
constexpr std::initializer_list<double> first_steps = {1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0};

MatrixX reference(const StepUnderTest& step, const MatrixX& directions) {
  MatrixX columns(step.derivatives.outputs(), directions.cols());
  for (Eigen::Index i = 0; i < directions.cols(); ++i) {
    const VectorX dz = directions.col(i);
    const auto disturbed = [&](double t) -> VectorX {
      try {
        return step.disturbed(dz, t);
      } catch (const articula::Error&) {  // no real body any more: this step is too long
        return VectorX::Constant(columns.rows(), NAN);
      }
    };
    columns.col(i) = ridders_differences(disturbed, first_steps, in_medium(step.model)).derivative;
  }
  return columns;
}

MatrixX derivative(StepUnderTest& step, const MatrixX& directions) {
  MatrixX columns(step.derivatives.outputs(), directions.cols());
  for (Eigen::Index i = 0; i < directions.cols(); ++i) columns.col(i) = step.along(directions.col(i));
  return columns;
}

// Controls anywhere in their ranges, or such that actuators exert little and few limits hold.
void choose_controls(StepUnderTest& step, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const Model& model = step.model;
  const bool gentle = uniform(random) < 0.7;
  const ForceWork& forces = step.work.free.forces;
  for (int i = 0; i < model.nu(); ++i) {
    const ActuatorIndex& index = model.structure().actuators[i];
    const std::optional<Vector2>& range = model.description().actuators[i].control_range;
    const double low = range ? (*range)[0] : -1.0, high = range ? (*range)[1] : 1.0;
    double u = low + (high - low) * uniform(random);
    const double *gain = model.theta().data() + index.gain, *bias = model.theta().data() + index.bias;
    const double l = forces.length[i], rate = forces.velocity[i],
                 slope = gain[0] + gain[1] * l + gain[2] * rate;
    if (gentle && slope != 0.0) {
      const double balanced = -(bias[0] + bias[1] * l + bias[2] * rate) / slope;
      const double spread = 0.03 * (high - low);
      u = std::clamp(balanced + spread * normal(random), low + spread, high - spread);
    }
    step.input.controls[i] = u;
    if (index.activation >= 0) step.start.activation[index.activation] = u;
  }
}

// On along a trajectory in flight, under random forces and controls; back to rest where it gets wild.
void move_on(StepUnderTest& step, const VectorX& felt, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Model& model = step.model;
  VectorX away(model.nv());
  for (double& x : away) x = 0.3 * normal(random);
  if (!step.start.v.allFinite() || step.start.v.cwiseAbs().maxCoeff() > 20.0)
    step.start = neutral_state(model);
  integrate(model, step.start.q, away, 1.0, step.start.q);
  for (int d = 0; d < model.nv(); ++d) step.input.forces[d] = 10.0 * felt[d] * normal(random);
  for (double& x : step.start.v) x += normal(random);
  for (int i = 0; i < 5; ++i) {
    contact_free_step(model, step.data, step.work, step.settings, step.input, step.start);
  }
  State probe = step.start;
  contact_free_step(model, step.data, step.work, step.settings, step.input, probe);
  choose_controls(step, random);
}

std::vector<Block> check(const Model& model, const Options& options) {
  std::mt19937 random(static_cast<unsigned>(options.seed));
  StepUnderTest step(model);
  const StepInputs& at = step.at;
  const VectorX felt = felt_inertia(model), scales = parameter_scales(model, felt);
  const int states = options.full ? 500 : options.states;
  const std::vector<ParameterKind> kinds = {
      ParameterKind::inertia,   ParameterKind::placement, ParameterKind::damping,
      ParameterKind::stiffness, ParameterKind::armature,  ParameterKind::gains,
      ParameterKind::medium,    ParameterKind::gravity,   ParameterKind::dt};
  std::vector<Block> blocks{{.name = "state"}, {.name = "control"}, {.name = "force"}};
  for (const ParameterKind kind : kinds) blocks.push_back({.name = std::string(to_string(kind))});
  Progress progress("checking gradients", static_cast<size_t>(states));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < states; ++i) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!options.full && elapsed.count() > budget) break;  // the rows say how many states there were
    move_on(step, felt, random);
    progress.advance();
    if (!step.take()) {
      for (Block& block : blocks) ++block.left_out;
      continue;
    }
    const auto compare = [&](Block& block, const MatrixX& directions) {
      if (directions.size() > 0) block.compare(derivative(step, directions), reference(step, directions));
    };
    compare(blocks[0], MatrixX::Identity(at.size, at.control));
    MatrixX controls = MatrixX::Zero(at.size, model.nu());
    controls.middleRows(at.control, model.nu()).diagonal() = control_scales(model);
    compare(blocks[1], controls);
    MatrixX forces = MatrixX::Zero(at.size, model.nv());
    forces.middleRows(at.force, model.nv()).diagonal() = 100.0 * felt;
    compare(blocks[2], forces);
    for (size_t k = 0; k < kinds.size(); ++k) {
      compare(blocks[3 + k], parameter_directions(model, kinds[k], scales, random));
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
    if (block.states + block.left_out == 0) continue;  // the model has none
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
