#pragma once
// Independent pieces of work over threads.

#include <functional>

namespace articula::cli {

// work(i) for i = 0 .. count - 1, each on some thread; 0 threads: as many as the machine has. What the first
// piece that fails throws is thrown on, after the others ended.
void over_threads(int threads, int count, const std::function<void(int)>& work);

}  // namespace articula::cli
