// The timing loop that every engine runs, rivals and ours: the same batches, the same statistics.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace articula::peers {

struct BatchTimes {
  double min_ns = 0.0;
  double median_ns = 0.0;
};

// Nanoseconds of processor time of this thread: what other processes take from it does not count.
inline double processor_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// Nanoseconds per call of `call(state_index)`. A batch is as many calls as fill `batch_ns`: long against the
// clock's resolution, short against a time slice, so that on a busy machine some batches pass undisturbed.
// Its figure is the average per call. Batches go round and round through the states: many of them keep the
// branch predictor from learning one by heart. The cost must not depend on the state, or the minimum picks
// cheap ones.
template <class Call>
BatchTimes time_batches(int state_count, int repeats, Call&& call, double batch_ns = 2e5) {
  int state = 0;
  const auto batch = [&](int calls) {
    const double start = processor_ns();
    for (int i = 0; i < calls; ++i) {
      call(state);
      if (++state == state_count) state = 0;
    }
    return (processor_ns() - start) / calls;
  };

  batch(state_count);  // caches, page faults, lazily sized workspaces
  const int calls = std::max(1, static_cast<int>(std::ceil(batch_ns / std::max(1.0, batch(state_count)))));
  std::vector<double> per_call(static_cast<std::size_t>(std::max(1, repeats)));
  for (double& ns : per_call) ns = batch(calls);
  std::sort(per_call.begin(), per_call.end());
  return {per_call.front(), per_call[per_call.size() / 2]};
}

}  // namespace articula::peers
