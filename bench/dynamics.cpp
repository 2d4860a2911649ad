#include "bench/dynamics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/forward_derivatives.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/manifold.hpp"
#include "bench/peers/batch_timing.hpp"
#include "bench/peers/peer_load.hpp"
#include "bench/support/allocation_counter.hpp"
#include "bench/support/mjcf_text.hpp"
#include "bench/support/peer_tree.hpp"

namespace articula::bench {
namespace {

constexpr int state_count = 64;

// Random states, a column each.
struct States {
  MatrixX q, v, a;

  explicit States(const Model& model) : q(model.nq(), state_count), v(model.nv(), state_count), a(v) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    VectorX away(model.nv());
    for (int i = 0; i < state_count; ++i) {
      for (double& x : away) x = 1.5 * uniform(random);
      VectorX configuration(model.nq());
      integrate(model, model.neutral_configuration(), away, 1.0, configuration);
      q.col(i) = configuration;
      for (double& x : v.col(i)) x = uniform(random);
      for (double& x : a.col(i)) x = uniform(random);
    }
  }

  PeerStates view() const { return {state_count, q.data(), v.data(), a.data(), a.data(), nullptr, nullptr}; }
};

// A kernel is its name in the rows and a call on the i-th state.
struct Kernel {
  std::string name;
  std::function<void(int)> call;
};

struct Workbench {
  const Model& model;
  States states;
  Data data;
  ForwardDerivativeWork work;
  VectorX out, q_bar, v_bar;
  MatrixX by_q, by_v;
  bool good = true;

  explicit Workbench(const Model& m)
      : model(m),
        states(m),
        data(m),
        work(m),
        out(m.nv()),
        q_bar(m.nv()),
        v_bar(m.nv()),
        by_q(m.nv(), m.nv()),
        by_v(m.nv(), m.nv()) {}

  std::vector<Kernel> kernels() {
    const auto q = [this](int i) { return states.q.col(i); };
    const auto v = [this](int i) { return states.v.col(i); };
    const auto a = [this](int i) { return states.a.col(i); };
    return {
        {"kinematics", [=, this](int i) { forward_kinematics(model, data, q(i)); }},
        {"rnea", [=, this](int i) { rnea(model, data, q(i), v(i), a(i), out); }},
        {"crba_factor",
         [=, this](int i) {
           crba(model, data, q(i));
           good = factor_mass_matrix(model, data) && good;
         }},
        {"aba", [=, this](int i) { good = aba(model, data, q(i), v(i), a(i), out) && good; }},
        {"rnea_derivatives",
         [=, this](int i) { rnea_derivatives(model, data, work.rnea, q(i), v(i), a(i), by_q, by_v); }},
        {"forward_dynamics_derivatives",
         [=, this](int i) {
           good = forward_dynamics_derivatives(model, data, work, q(i), v(i), a(i)) && good;
         }},
        {"forward_dynamics_adjoint",
         [=, this](int i) {
           good = prepare_forward_products(model, data, work, q(i), v(i), a(i)) && good;
           forward_dynamics_adjoint(model, data, work, a(i), q_bar, v_bar, out);
         }},
    };
  }
};

struct Rival {
  std::string name;
  const PeerApi* api = nullptr;
  peers::PeerModelPtr model;
};

std::vector<Rival> rivals_for(const Model& model, const std::string& label, DynamicsFigures& report) {
  std::vector<Rival> rivals;
  for (const std::string name : {"pinocchio", "mujoco"}) {
    std::string reason;
    const PeerApi* api = peers::load_peer(name, reason);
    if (api == nullptr) {
      report.notes.push_back(fmt::format("{}: not compared with {}: {}", label, name, reason));
      continue;
    }
    try {
      rivals.push_back({name, api,
                        name == "mujoco" ? peers::create_from_mjcf_text(*api, mjcf_text(model))
                                         : peers::create_from_tree(*api, peer_tree(model).view())});
    } catch (const std::exception& error) {
      report.notes.push_back(fmt::format("{}: {} does not take it: {}", label, name, error.what()));
    }
  }
  return rivals;
}

// Minimum and median over several turns of one contestant.
struct Best {
  double min_ns = INFINITY;
  std::vector<double> medians;

  void take(double min, double median) {
    min_ns = std::min(min_ns, min);
    medians.push_back(median);
  }
  double median() {
    std::sort(medians.begin(), medians.end());
    return medians.empty() ? INFINITY : medians[medians.size() / 2];
  }
};

void measure_kernel(const std::string& row, const Kernel& kernel, const States& states,
                    std::vector<Rival>& rivals, bool full, DynamicsFigures& report, double& ours_ns) {
  const int turns = full ? 10 : 4, repeats = full ? 100 : 25;
  Best ours;
  std::map<std::string, Best> theirs;
  const PeerStates view = states.view();
  for (int turn = 0; turn < turns; ++turn) {
    const peers::BatchTimes times = peers::time_batches(state_count, repeats, kernel.call);
    ours.take(times.min_ns, times.median_ns);
    for (Rival& rival : rivals) {
      double min = 0.0, median = 0.0;
      if (rival.api->time_kernel(rival.model.get(), kernel.name.c_str(), &view, repeats, &min, &median) ==
          PEER_OK) {
        theirs[rival.name].take(min, median);
      }
    }
  }
  const AllocationScope scope;
  for (int i = 0; i < state_count; ++i) kernel.call(i);
  const double allocations = static_cast<double>(scope.count());
  ours_ns = ours.min_ns;
  report.figures.push_back({row + "/ns", ours.min_ns, "ns"});
  report.figures.push_back({row + "/ns_median", ours.median(), "ns"});
  report.figures.push_back({row + "/allocations", allocations, "count"});
  for (auto& [name, best] : theirs) {
    report.figures.push_back({row + "/ratio_" + name, ours.min_ns / best.min_ns, "ratio"});
  }
}

}  // namespace

DynamicsFigures measure_dynamics(bool full) {
  DynamicsFigures report;
  std::map<std::string, std::map<std::string, double>> times;  // by case and kernel
  for (const std::string label : {"arm", "quadruped", "biped", "chain10", "chain40", "chain100"}) {
    const Model model = load(label);
    Workbench bench(model);
    std::vector<Rival> rivals = rivals_for(model, label, report);
    for (const Kernel& kernel : bench.kernels()) {
      measure_kernel(label + "/" + kernel.name, kernel, bench.states, rivals, full, report,
                     times[label][kernel.name]);
    }
    if (!bench.good) report.notes.push_back(label + ": a mass matrix was singular");
    report.figures.push_back({label + "/forward_dynamics_adjoint/ratio_aba",
                              times[label]["forward_dynamics_adjoint"] / times[label]["aba"], "ratio"});
  }
  for (const auto& [kernel, ns] : times["chain10"]) {
    report.figures.push_back(
        {"chain/" + kernel + "/exponent", std::log10(times["chain100"][kernel] / ns), "1"});
  }
  report.notes.push_back(
      "forward dynamics derivatives give the acceleration, its derivatives by q and v, and M^-1");
  return report;
}

}  // namespace articula::bench
