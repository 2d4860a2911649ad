// The timing loop that every engine runs, rivals and ours: the same batches, the same statistics.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace articula::peers {

struct BatchTimes {
  double min_ns = 0.0;
  double median_ns = 0.0;
};

// Nanoseconds per call of `call(state_index)`. A batch is as many passes through all states as fill
// `batch_ns`, long against the clock's resolution and short against an interruption; its figure is the
// average per call. Many states keep the branch predictor from learning one of them by heart.
template <class Call>
BatchTimes time_batches(int state_count, int repeats, Call&& call, double batch_ns = 2e5) {
  using Clock = std::chrono::steady_clock;
  const auto pass_ns = [&](int passes) {
    const auto start = Clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < state_count; ++i) {
        call(i);
      }
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };

  pass_ns(1);  // caches, page faults, lazily sized workspaces
  const int passes = std::max(1, static_cast<int>(std::ceil(batch_ns / std::max(1.0, pass_ns(1)))));
  std::vector<double> per_call(static_cast<std::size_t>(std::max(1, repeats)));
  for (double& ns : per_call) {
    ns = pass_ns(passes) / (static_cast<double>(passes) * state_count);
  }
  std::sort(per_call.begin(), per_call.end());
  return {per_call.front(), per_call[per_call.size() / 2]};
}

}  // namespace articula::peers
