#include "bench/steps.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "articula/simulation/batch.hpp"
#include "bench/peers/peer_load.hpp"
#include "bench/support/allocation_counter.hpp"
#include "bench/support/contact_scenes.hpp"

namespace articula::bench {
namespace {

constexpr int steps = 1000;

double wall_seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point before = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - before).count();
}

struct Trajectory {
  int taken = 0;
  double contacts = 0.0, islands = 0.0, guessed = 0.0;
  double residual = 0.0;
  int inexact = 0;
};

// One run from the start, in place: what a user's loop would do.
void run(const Simulation& simulation, const Case& c, Step& step) {
  step.next = c.start;
  step.warm.entries.clear();
  for (int i = 0; i < steps; ++i) {
    step.input.controls = c.controls.col(i);
    simulation.step(step.next, step.input, step);
    if (!step.ok()) return;
  }
}

Trajectory observe(const Simulation& simulation, const Case& c) {
  Trajectory t;
  Step step;
  step.next = c.start;
  for (int i = 0; i < steps; ++i) {
    step.input.controls = c.controls.col(i);
    simulation.step(step.next, step.input, step);
    if (!step.ok()) break;
    ++t.taken;
    t.contacts += static_cast<double>(
        std::count_if(step.contacts.begin(), step.contacts.end(),
                      [](const StepContact& k) { return k.mode != ContactMode::separating; }));
    t.islands += step.report.islands;
    t.guessed += step.report.guessed_islands;
    t.residual = std::max(t.residual, step.report.residual);
    t.inexact += step.report.contact == SolveStatus::inexact;
  }
  t.contacts /= std::max(t.taken, 1);
  return t;
}

// MuJoCo with the same file, start and controls, Newton's method at its default tolerance; sensors, which our
// step does not evaluate, are off.
struct Rival {
  const PeerApi* api = nullptr;
  peers::PeerModelPtr model;
  std::vector<double> controls, q, v;

  Rival(const PeerApi* rival, const std::string& path, const Case& c) : api(rival) {
    if (api == nullptr) return;
    model = peers::create_from_mjcf_file(*api, path);
    if (api->size(model.get(), "nq") != c.model.nq() || api->size(model.get(), "nu") != c.model.nu())
      throw std::runtime_error("MuJoCo counts other coordinates or controls");
    api->set_option(model.get(), "newton", 1.0);
    api->set_option(model.get(), "sensor", 0.0);
    controls.assign(c.controls.data(), c.controls.data() + c.controls.size());
    q.resize(static_cast<std::size_t>(steps * c.model.nq()));
    v.resize(static_cast<std::size_t>(steps * c.model.nv()));
  }

  PeerStatus run(const Case& c, double* positions, double* velocities) const {
    const PeerStates start{1,       c.start.q.data(), c.start.v.data(),         nullptr,
                           nullptr, nullptr,          c.start.activation.data()};
    return api->simulate(model.get(), &start, steps, controls.data(), positions, velocities);
  }

  // Mean over the trajectory; negative: it diverged.
  double contacts(const Case& c) {
    if (run(c, q.data(), v.data()) != PEER_OK) return -1.0;
    const PeerStates states{steps, q.data(), v.data(), nullptr, nullptr, nullptr, nullptr};
    std::vector<double> counts(steps);
    api->evaluate(model.get(), "contact_count", &states, counts.data());
    double sum = 0.0;
    for (double count : counts) sum += count;
    return sum / steps;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Scene& scene, const Case& c, Rival& rival, bool full, StepFigures& out) {
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const std::string name = fmt::format("{}/{}/step/", scene.name, to_string(law));
    const Simulation simulation(c.model, {.contact = law});
    const Trajectory t = observe(simulation, c);
    if (t.taken < steps) {
      out.notes.push_back(fmt::format("{}: a step failed after {}, no rows", name, t.taken));
      continue;
    }
    Step step;
    const double once = processor_seconds([&] { run(simulation, c, step); });
    const AllocationScope scope;
    run(simulation, c, step);
    const double allocations = static_cast<double>(scope.count());
    if (rival.model) rival.api->set_option(rival.model.get(), "elliptic", law == Contact::ncp ? 1.0 : 0.0);
    // In turns, so that noise hits both alike; and for long enough to outlast a slow moment of the machine.
    const int lasting = static_cast<int>(std::clamp(0.25 / once, 7.0, 30.0));
    const int repeats = once > 0.5 ? 1 : full ? std::max(lasting, 20) : lasting;
    std::vector<double> ours, theirs;
    for (int i = 0; i < repeats; ++i) {
      ours.push_back(processor_seconds([&] { run(simulation, c, step); }) / steps);
      if (rival.model) theirs.push_back(processor_seconds([&] { rival.run(c, nullptr, nullptr); }) / steps);
    }
    const double least = *std::min_element(ours.begin(), ours.end());
    out.figures.push_back({name + "us", 1e6 * least, "us"});
    out.figures.push_back({name + "us_median", 1e6 * median(ours), "us"});
    if (rival.model)
      out.figures.push_back(
          {name + "ratio_mujoco", least / *std::min_element(theirs.begin(), theirs.end()), "1"});
    out.figures.push_back({name + "contacts", t.contacts, "count"});
    if (t.islands > 0) out.figures.push_back({name + "guess_hit_rate", t.guessed / t.islands, "1"});
    if (counts_allocations()) out.figures.push_back({name + "allocations", allocations / steps, "per step"});
    if (rival.model)
      out.notes.push_back(
          fmt::format("{}: {:.1f} contacts touch, MuJoCo has {:.1f}", name, t.contacts, rival.contacts(c)));
    if (t.inexact > 0)
      out.notes.push_back(fmt::format("{}: {} steps were not solved exactly, worst residual {:.1e}", name,
                                      t.inexact, t.residual));
  }
}

// This process may have fewer than the machine: taskset, containers.
int usable_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Environments that differ in their velocities, on one thread and on two.
class BatchRace {
 public:
  BatchRace(const Scene& scene, const Case& c)
      : name_(scene.name),
        start_(c.start),
        one_(c.model, environments, {}, 1),
        two_(c.model, environments, {}, 2) {
    controls_ = c.controls.leftCols(shortest);
    const double enough = 0.03;  // s, so that waking a thread does not count
    const double length = std::clamp(shortest * enough / time(one_), 1.0 * shortest, 1.0 * steps);
    controls_ = c.controls.leftCols(static_cast<int>(length));
    time(two_);
  }

  // Other guests of the host slow one processor or the other for tens of milliseconds at a time, two separate
  // processes as much as two threads: the least of short runs taken in turns are compared.
  void compare() {
    double alone = time(one_), both = time(two_);
    for (int turn = 1; turn < 5; ++turn) {
      alone = std::min(alone, time(one_));
      both = std::min(both, time(two_));
    }
    speedups_.push_back(alone / both);
  }

  StepFigure speedup() const { return {name_ + "/batch2/speedup", median(speedups_), "1"}; }

 private:
  static constexpr int environments = 64, shortest = 20;

  double time(const Batch& batch) const {
    BatchState x = batch.repeat(start_);
    for (int e = 0; e < environments; ++e) x.v.col(e) *= 1.0 + 0.001 * e;
    const MatrixX controls = controls_.replicate(1, environments);
    return wall_seconds([&] { batch.rollout(x, static_cast<int>(controls_.cols()), controls); });
  }

  std::string name_;
  State start_;
  MatrixX controls_;  // nu x steps, the same for all environments
  Batch one_, two_;
  std::vector<double> speedups_;
};

}  // namespace

StepFigures measure_steps(bool full) {
  StepFigures out;
  std::string reason;
  const PeerApi* api = peers::load_peer("mujoco", reason);
  if (api == nullptr)
    out.notes.push_back("no comparison with MuJoCo: " + reason);
  else
    out.notes.push_back(fmt::format(
        "MuJoCo {}: the model's own integrator, Newton at its default tolerance, no sensors", api->version));
  const auto shared = shared_models_directory();
  std::vector<Scene> scenes = own_scenes(full, shared.has_value());
  if (shared)
    scenes.insert(scenes.begin(), shared_scenes().begin(), shared_scenes().end());
  else
    out.notes.push_back("no shared models: ur5e, go1, h1, talos have no rows");
  const bool two_cores = usable_processors() >= 2;
  if (!two_cores) out.notes.push_back("one processor to run on: batches on two threads have no rows");
  std::vector<BatchRace> races;
  for (const Scene& scene : scenes) {
    try {
      const std::string path = *scene.file != '\0' ? (*shared / scene.file).string()
                                                   : (models_directory() / (scene.name + ".xml")).string();
      const Case c = prepare(scene, path, steps);
      Rival rival(api, path, c);
      measure(scene, c, rival, full, out);
      // Of our own, where theirs are at hand, only in full.
      const bool batch = full || *scene.file != '\0' || !shared;
      if (two_cores && batch) races.emplace_back(scene, c);
    } catch (const std::exception& error) {
      out.notes.push_back(fmt::format("{}: {}", scene.name, error.what()));
    }
  }
  // The five of a robot lie apart in time: what slows the machine for a second hits one of them.
  for (int i = 0; i < 5; ++i)
    for (BatchRace& race : races) race.compare();
  for (const BatchRace& race : races) out.figures.push_back(race.speedup());
  return out;
}

}  // namespace articula::bench
