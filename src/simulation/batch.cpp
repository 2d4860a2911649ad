#include "articula/simulation/batch.hpp"

#include "batch_threads.hpp"

namespace articula {

namespace {

std::vector<Model> checked(std::vector<Model> models) {
  if (models.empty()) throw Error("a batch needs at least one model");
  for (size_t i = 1; i < models.size(); ++i) {
    if (&models[i].structure() != &models[0].structure())
      throw Error("model {} of the batch is no variant (model.with) of the first one", i);
  }
  return models;
}

int checked_count(int count) {
  if (count < 1) throw Error("a batch needs at least one environment, not {}", count);
  return count;
}

void size(BatchState& x, const Model& model, Eigen::Index columns) {
  x.q.resize(model.nq(), columns);
  x.v.resize(model.nv(), columns);
  x.activation.resize(model.na(), columns);
  x.time.resize(columns);
}

void require_warm(const std::vector<WarmStart>& warm, int count) {
  if (!warm.empty()) require_size("warm", static_cast<long>(warm.size()), count);
}

}  // namespace

Batch::Batch(const Model& model, int count, const SimulationSettings& settings, int threads)
    : threads_(
          std::make_unique<Threads>(std::vector<Model>{model}, checked_count(count), settings, threads)) {}

Batch::Batch(std::vector<Model> models, const SimulationSettings& settings, int threads) {
  const int count = static_cast<int>(models.size());
  threads_ = std::make_unique<Threads>(checked(std::move(models)), count, settings, threads);
}

Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

int Batch::size() const { return threads_->count; }
int Batch::threads() const { return threads_->wanted; }
const SimulationSettings& Batch::settings() const { return threads_->settings; }

const Model& Batch::model(int environment) const {
  if (environment < 0 || environment >= size())
    throw Error("the batch has environments 0 to {}, not {}", size() - 1, environment);
  return threads_->model(environment);
}

BatchState Batch::repeat(const State& state) const {
  const Model& model = threads_->models.front();
  require_size("q", state.q.size(), model.nq());
  require_size("v", state.v.size(), model.nv());
  require_size("activation", state.activation.size(), model.na());
  BatchState x;
  articula::size(x, model, size());
  for (int e = 0; e < size(); ++e) store(state, x, e);
  return x;
}

BatchState Batch::neutral_states() const {
  BatchState x = repeat(neutral_state(model(0)));
  for (int e = 1; e < size(); ++e) store(neutral_state(model(e)), x, e);
  return x;
}

namespace {

// A thread works on a warm start of its own, which stays in the cache; of those of environments only what is
// used is read and written.
void guess(const WarmStart* given, WarmStart& own) {
  if (given != nullptr) {
    own = *given;
  } else {
    own.law = {};
    own.entries.clear();
  }
}

// With room for all that the model can need, as the thread's has: no later step allocates.
void keep(const WarmStart& from, WarmStart& to) {
  to.entries.reserve(from.entries.capacity());
  to = from;
}

// Warm starts lie apart in memory: those of the next environment are fetched while this one is stepped.
void fetch(const WarmStart& warm) {
  constexpr std::size_t line = 64, most = 1024;  // bytes
  const auto* from = reinterpret_cast<const char*>(warm.entries.data());
  const std::size_t bytes = std::min(warm.entries.size() * sizeof(WarmStart::Entry), most);
  for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(from + i);
}

}  // namespace

// guesses: N of them, which may be those of the result, or none.
void Batch::step_from(const BatchState& x, const ConstMatrixRef& controls,
                      const std::vector<WarmStart>& guesses, BatchStep& result) const {
  const Model& model = threads_->models.front();
  require_states(model, x, size());
  if (controls.cols() > 0) require_shape("controls", controls, model.nu(), size());
  require_warm(guesses, size());
  const bool guessed = !guesses.empty();
  if (&x != &result.next) articula::size(result.next, model, size());
  if (result.keep_start) {
    if (&x != &result.start) articula::size(result.start, model, size());
    result.controls.resize(model.nu(), controls.cols());
  }
  result.warm.resize(size());
  result.reports.resize(size());
  if (result.keep_contacts) result.contacts.resize(size());
  threads_->for_each([&](BatchWorker& worker, int e) {
    if (e + 1 < size()) {
      if (guessed) fetch(guesses[e + 1]);
      fetch(result.warm[e + 1]);
    }
    load(x, e, worker.start);
    if (controls.cols() > 0)
      worker.step.input.controls = controls.col(e);
    else
      worker.step.input.controls.resize(0);
    if (result.keep_start) {
      store(worker.start, result.start, e);
      if (controls.cols() > 0) result.controls.col(e) = worker.step.input.controls;
    }
    guess(guessed ? &guesses[e] : nullptr, worker.step.warm);
    worker.workspace.step(worker.start, worker.step.input, worker.step);
    keep(worker.step.warm, result.warm[e]);
    store(worker.step.next, result.next, e);
    result.reports[e] = worker.step.report;
    if (result.keep_contacts) result.contacts[e] = worker.step.contacts;
  });
}

void Batch::step(const BatchState& x, const ConstMatrixRef& controls, BatchStep& result) const {
  step_from(x, controls, result.warm, result);
}

void Batch::step(const BatchState& x, const ConstMatrixRef& controls, const std::vector<WarmStart>& warm,
                 BatchStep& result) const {
  step_from(x, controls, warm, result);
}

BatchStep Batch::step(const BatchState& x, const ConstMatrixRef& controls,
                      const std::vector<WarmStart>& warm) const {
  BatchStep result;
  step(x, controls, warm, result);
  return result;
}

namespace {

void add_report(StepReport& sum, const StepReport& report) {
  sum.status = report.status;  // the last: a step that fails ends its environment
  sum.contact = std::max(sum.contact, report.contact);
  sum.residual = std::max(sum.residual, report.residual);
  sum.deepest = std::max(sum.deepest, report.deepest);
  sum.overflow |= report.overflow;
  sum.contacts += report.contacts;
  sum.rows += report.rows;
  sum.islands += report.islands;
  sum.guessed_islands += report.guessed_islands;
  sum.iterations += report.iterations;
}

}  // namespace

BatchRollout Batch::rollout(const BatchState& x, int steps, const ConstMatrixRef& controls,
                            const std::vector<WarmStart>& warm) const {
  if (steps < 0) throw Error("the number of steps must not be negative, as {} is", steps);
  const Model& model = threads_->models.front();
  const Eigen::Index columns = steps + 1;
  require_states(model, x, size());
  if (controls.size() > 0 || model.nu() > 0)
    require_shape("controls", controls, model.nu(), static_cast<Eigen::Index>(steps) * size());
  require_warm(warm, size());
  BatchRollout result;
  result.steps = steps;
  BatchState path;
  articula::size(path, model, columns * size());
  result.taken.resize(size());
  result.worst.resize(size());
  result.warm.resize(size());
  threads_->for_each([&](BatchWorker& worker, int e) {
    load(x, e, worker.start);
    worker.step.next = worker.start;
    guess(warm.empty() ? nullptr : &warm[e], worker.step.warm);
    worker.step.input.controls.resize(0);
    store(worker.start, path, e * columns);
    StepReport worst;  // written once: those of neighbours share a line of the cache, and other threads write
    int taken = steps;
    for (int i = 0; i < steps; ++i) {
      if (taken == steps) {
        if (controls.size() > 0) worker.step.input.controls = controls.col(e * steps + i);
        worker.workspace.step(worker.step.next, worker.step.input, worker.step);
        add_report(worst, worker.step.report);
        if (!worker.step.ok()) taken = i;
      }
      store(worker.step.next, path, e * columns + i + 1);
    }
    result.worst[e] = worst;
    result.taken[e] = taken;
    keep(worker.step.warm, result.warm[e]);
  });
  result.q = std::move(path.q);
  result.v = std::move(path.v);
  result.activation = std::move(path.activation);
  result.time = Eigen::Map<const MatrixX>(path.time.data(), columns, size());
  return result;
}

}  // namespace articula
