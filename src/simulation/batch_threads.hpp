#pragma once
// The threads of a batch, and what each of them needs.

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "articula/error.hpp"
#include "articula/model/sizes.hpp"
#include "articula/simulation/batch.hpp"

namespace articula {

// What a thread needs to step any of the environments.
struct BatchWorker {
  BatchWorker(const Model& model, const SimulationSettings& settings) : workspace(model, settings) {}
  StepWorkspace workspace;
  Step step;
  State start, end;
  StepJacobians jacobians;
  StepCovector covector;
  StepGradient gradient;
};

inline void load(const BatchState& from, Eigen::Index e, State& state) {
  state.q = from.q.col(e);
  state.v = from.v.col(e);
  state.activation = from.activation.col(e);
  state.time = from.time[e];
}

inline void store(const State& state, BatchState& to, Eigen::Index e) {
  to.q.col(e) = state.q;
  to.v.col(e) = state.v;
  to.activation.col(e) = state.activation;
  to.time[e] = state.time;
}

struct Batch::Threads {
  std::vector<Model> models;  // one for all, or one for each
  int count = 0;
  int wanted = 0;
  SimulationSettings settings;
  mutable tbb::task_arena arena;
  mutable std::vector<std::unique_ptr<BatchWorker>> workers;  // one for each thread

  // Asked for more threads than it may have, TBB would print a warning and go on with what it has.
  static int allowed(int wanted) {
    const auto most = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::min(wanted, static_cast<int>(most));
  }

  Threads(std::vector<Model> all, int environments, const SimulationSettings& chosen, int threads)
      : models(std::move(all)),
        count(environments),
        wanted(threads > 0 ? threads : tbb::info::default_concurrency()),
        settings(complete(models.front(), chosen)),
        arena(allowed(wanted)) {
    // One more than run at a time: an arena of one thread has a second place.
    for (int i = 0; i < std::min(wanted, allowed(wanted) + 1); ++i)
      workers.push_back(std::make_unique<BatchWorker>(models.front(), settings));
  }

  const Model& model(Eigen::Index e) const {
    return models.size() == 1 ? models.front() : models[static_cast<size_t>(e)];
  }

  // visit(worker, environment) for every environment, each worker used by one thread at a time.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const auto run = [&](int begin, int end) {
      BatchWorker& worker = *workers[wanted == 1 ? 0 : tbb::this_task_arena::current_thread_index()];
      for (int e = begin; e < end; ++e) {
        worker.workspace.use(model(e));
        visit(worker, e);
      }
    };
    // Small pieces: a thread that starts late, or has costly environments, leaves the rest to the others.
    const int piece = std::max(1, count / (32 * wanted));
    arena.execute([&] {
      if (wanted == 1) return run(0, count);
      tbb::parallel_for(
          tbb::blocked_range<int>(0, count, piece),
          [&](const tbb::blocked_range<int>& range) { run(range.begin(), range.end()); },
          tbb::simple_partitioner());
    });
  }
};

inline void require_shape(const char* what, const ConstMatrixRef& given, Eigen::Index rows,
                          Eigen::Index columns) {
  if (given.rows() == rows && given.cols() == columns) return;
  throw Error("{} is {} x {}, not {} x {}", what, given.rows(), given.cols(), rows, columns);
}

inline void require_states(const Model& model, const BatchState& x, Eigen::Index count) {
  require_shape("q", x.q, model.nq(), count);
  require_shape("v", x.v, model.nv(), count);
  require_shape("activation", x.activation, model.na(), count);
  require_size("time", x.time.size(), count);
}

}  // namespace articula
