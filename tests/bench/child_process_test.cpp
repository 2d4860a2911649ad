#include "bench/support/child_process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace articula::bench::child_process_test {
namespace {

TEST(child_processes, what_dies_is_known_and_the_rest_goes_on) {
  const ChildResults results = in_child_processes(6, 2, 1, [](int i, double* result) {
    if (i == 1) std::abort();
    if (i == 3)
      while (true) {  // never done: its time runs out
        static volatile int spin = 0;
        spin = spin + 1;
      }
    if (i == 5) std::_Exit(1);
    result[0] = 10.0 * i;
    result[1] = -i;
  });
  EXPECT_EQ(results.died, (std::vector<bool>{false, true, false, true, false, true}));
  EXPECT_EQ(results.values, (std::vector<double>{0, 0, 0, 0, 20, -2, 0, 0, 40, -4, 0, 0}));
}

TEST(child_processes, of_nothing_there_are_none) {
  EXPECT_TRUE(in_child_processes(0, 1, 1, [](int, double*) {}).values.empty());
}

}  // namespace
}  // namespace articula::bench::child_process_test
