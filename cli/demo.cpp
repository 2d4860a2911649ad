#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <string>

#include "articula/derivatives/contact_free.hpp"
#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/energy.hpp"
#include "articula/dynamics/forward_derivatives.hpp"
#include "articula/io/load.hpp"
#include "articula/simulation/simulation.hpp"
#include "articula/steppers/contact_free.hpp"
#include "articula/steppers/runge_kutta.hpp"
#include "articula/version.hpp"
#include "bench/peers/batch_timing.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"

namespace articula::cli {
namespace {

constexpr int chain_links = 10;
constexpr double swing_seconds = 6.0;
constexpr int plot_columns = 72;

double total_energy(const Model& model, Data& data, const State& state) {
  forward_kinematics(model, data, state.q);
  place_inertias(model, data);
  propagate_motion(model, data, state.v.data(), nullptr);
  return energy(model, data, state.q, state.v).total();
}

struct Swing {
  std::vector<double> tip_height, energy;  // at each column of the plot
  double largest_drift = 0.0;              // of the energy, relative to the depth of the fall
};

// A chain let go horizontally. `step` takes the state one dt on.
template <class Step>
Swing swing(const Model& model, double dt, Step step) {
  Data data(model);
  State state = neutral_state(model);
  state.q[0] = 1.5;
  const double start = total_energy(model, data, state);
  const double scale = std::abs(model.gravity()[2]) * model.total_mass() * 0.5 * 0.1 * chain_links;
  Swing result;
  const int steps = static_cast<int>(swing_seconds / dt);
  for (int i = 0; i <= steps; ++i) {
    if (i * plot_columns / steps != static_cast<int>(result.energy.size()) - 1) {
      const double now = total_energy(model, data, state);
      result.energy.push_back(now);
      result.tip_height.push_back(body_placement(model, data, model.nbody() - 1).p[2]);
      result.largest_drift = std::max(result.largest_drift, std::abs(now - start) / scale);
    }
    step(state);
  }
  return result;
}

// Eight heights of block characters.
std::string sparkline(const std::vector<double>& values) {
  static const std::array<const char*, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = std::max(*high - *low, 1e-12);
  std::string line;
  for (double value : values) line += blocks[static_cast<size_t>(7.999 * (value - *low) / range)];
  return line;
}

void show_swing() {
  const Model model = load(fmt::format("chain{}", chain_links));
  const VectorX no_force = VectorX::Zero(model.nv());
  Data data(model);
  ContactFreeWork work(model);
  RungeKuttaWork reference_work(model);
  const double dt = 0.001;
  StepSettings settings;
  settings.dt = dt;
  const Swing semi_implicit =
      swing(model, dt, [&](State& state) { contact_free_step(model, data, work, settings, {}, state); });
  const Swing reference = swing(
      model, dt, [&](State& state) { runge_kutta_step(model, data, reference_work, dt, no_force, state); });
  fmt::print("A chain of {} links is let go and swings for {:.0f} s (dt = {} ms).\n\n", chain_links,
             swing_seconds, dt * 1e3);
  fmt::print("  height of its tip\n  {}\n", sparkline(reference.tip_height));
  fmt::print("  largest drift of its energy: {:.1e} semi-implicit, {:.1e} Runge-Kutta\n\n",
             semi_implicit.largest_drift, reference.largest_drift);
}

// A quadruped falls half a metre and holds itself up with a spring in each joint.
void show_landing() {
  const Model model = load("quadruped");
  const Simulation simulation(model, {.dt = 0.001});
  const State home = neutral_state(model);
  Step step;
  step.next = home;
  step.next.q[2] += 0.5;
  const int steps = 1500, joints = model.nu();
  std::vector<double> height, load_on_feet;
  double deepest = 0.0, residual = 0.0;
  int guessed = 0, islands = 0;
  for (int i = 0; i < steps; ++i) {
    step.input.controls =
        80.0 * (home.q.tail(joints) - step.next.q.tail(joints)) - 2.0 * step.next.v.tail(joints);
    simulation.step(step.next, step.input, step);
    if (!step.ok()) throw Failure(fmt::format("a step failed: {}", to_string(step.status())));
    deepest = std::max(deepest, step.report.deepest);
    residual = std::max(residual, step.report.residual);
    guessed += step.report.guessed_islands;
    islands += step.report.islands;
    if (i * plot_columns / steps == static_cast<int>(height.size()) - 1) continue;
    double force = 0.0;
    for (const StepContact& contact : step.contacts) force += contact.force[2];
    height.push_back(step.next.q[2]);
    load_on_feet.push_back(force);
  }
  const double weight = model.total_mass() * norm(model.gravity());
  fmt::print("A quadruped falls 0.5 m onto its feet ({} s, hard contact, friction cones).\n\n", steps * 1e-3);
  fmt::print("  height of its trunk\n  {}\n  force on its feet, up to {:.1f} times its weight\n  {}\n",
             sparkline(height), *std::max_element(load_on_feet.begin(), load_on_feet.end()) / weight,
             sparkline(load_on_feet));
  fmt::print("  at the end they carry {:.6f} times its weight; deepest penetration {:.1e} m,\n",
             load_on_feet.back() / weight, deepest);
  fmt::print("  largest residual {:.0e}, {:.0f} % of the contact problems solved at the first guess\n\n",
             residual, 100.0 * guessed / std::max(islands, 1));
}

std::string microseconds(double ns) { return fmt::format("{:.2f}", ns * 1e-3); }

void show_timings() {
  fmt::print("One call of each algorithm, in microseconds on this machine:\n\n");
  Table table({{"robot"},
               {"dof", Align::right},
               {"kinematics", Align::right},
               {"inverse dyn.", Align::right},
               {"mass matrix", Align::right},
               {"forward dyn.", Align::right},
               {"derivatives", Align::right},
               {"adjoint", Align::right},
               {"step", Align::right}});
  for (const char* name : {"arm", "quadruped", "humanoid", "biped", "chain40"}) {
    const Model model = load(name);
    Data data(model);
    ForwardDerivativeWork work(model);
    ContactFreeWork step_work(model);
    const State start = neutral_state(model);
    const VectorX zero = VectorX::Zero(model.nv());
    VectorX out(model.nv()), q_bar(model.nv()), v_bar(model.nv()), tau_bar(model.nv());
    bool good = true;
    const auto time = [](auto call) {
      return microseconds(peers::time_batches(1, 30, [&](int) { call(); }).min_ns);
    };
    StepSettings settings;
    settings.dt = model.timestep();
    State state = start;
    table.add({name, fmt::format("{}", model.nv()), time([&] { forward_kinematics(model, data, start.q); }),
               time([&] { rnea(model, data, start.q, start.v, zero, out); }),
               time([&] { crba(model, data, start.q), good = factor_mass_matrix(model, data) && good; }),
               time([&] { good = aba(model, data, start.q, start.v, zero, out) && good; }), time([&] {
                 good = forward_dynamics_derivatives(model, data, work, start.q, start.v, zero) && good;
               }),
               time([&] {
                 good = prepare_forward_products(model, data, work, start.q, start.v, zero) && good;
                 forward_dynamics_adjoint(model, data, work, zero, q_bar, v_bar, tau_bar);
               }),
               time([&] {
                 state = start;
                 good =
                     contact_free_step(model, data, step_work, settings, {}, state) == StepStatus::ok && good;
               })});
    if (!good) throw Failure(fmt::format("'{}' could not be simulated", name));
  }
  fmt::print("{}", table.to_text());
  fmt::print(
      "\n(mass matrix: with its factor; derivatives: of the acceleration by position, velocity and force;\n"
      " adjoint: one vector times all of them.)\n\n");
}

// How the height of the tip after one second depends on how the chain was pushed, by one backward sweep.
void show_gradient() {
  const Model model = load(fmt::format("chain{}", chain_links));
  const int nv = model.nv(), steps = 200;
  Data data(model);
  ContactFreeWork work(model);
  ContactFreeDerivatives derivatives(model);
  StepSettings settings;
  settings.dt = 0.005;
  const auto height = [&](double push, std::vector<State>* path) {
    State state = neutral_state(model);
    state.q[0] = 1.0;
    state.v[0] = push;
    for (int i = 0; i < steps; ++i) {
      if (path != nullptr) path->push_back(state);
      contact_free_step(model, data, work, settings, {}, state);
    }
    forward_kinematics(model, data, state.q);
    return body_placement(model, data, model.nbody() - 1).p[2];
  };
  std::vector<State> path;
  height(0.0, &path);
  VectorX x_bar = VectorX::Zero(2 * nv), w(nv), z_bar(derivatives.inputs());
  const Vec3 tip = body_placement(model, data, model.nbody() - 1).p;
  for (int d = 0; d < nv; ++d) x_bar[d] = point_velocity(data.S[d], tip - data.link_reference[1])[2];
  for (int i = steps - 1; i >= 0; --i) {
    State state = path[static_cast<size_t>(i)];
    contact_free_step(model, data, work, settings, {}, state);
    derivatives.prepare(model, data, work, settings);
    pull_back(derivatives, x_bar, w, z_bar);
    x_bar = z_bar.head(2 * nv);
  }
  const double h = 1e-5, difference = (height(h, nullptr) - height(-h, nullptr)) / (2 * h);
  fmt::print("A push at the top changes the tip's height one second later by, per rad/s:\n");
  fmt::print("  {:+.9f} m   by the adjoint of {} steps\n  {:+.9f} m   by central differences\n", x_bar[nv],
             steps, difference);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "Show what the engine does, with figures from this machine");
  command->callback([] {
    fmt::print("Articula {}: a differentiable physics engine for articulated rigid bodies\n\n", version);
    show_landing();
    show_swing();
    show_timings();
    show_gradient();
  });
}

}  // namespace articula::cli
