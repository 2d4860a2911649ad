#pragma once
// Work that may abort, in processes of its own.

#include <functional>
#include <vector>

namespace articula::bench {

struct ChildResults {
  int doubles = 0;
  std::vector<double> values;  // `doubles` for each item; zero where it died
  std::vector<bool> died;
};

// work(i, result) for every i in [0, count), in a child process. Where the child dies (an assertion, a crash,
// more than `seconds` for one item), another one goes on with the next item. What the work prints to stderr
// is lost. Call it while there is one thread. Throws articula::Error where the system has no process to give.
ChildResults in_child_processes(int count, int doubles, unsigned seconds,
                                const std::function<void(int item, double* result)>& work);

}  // namespace articula::bench
