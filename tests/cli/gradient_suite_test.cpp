#include "cli/gradient_suite.hpp"

#include <gtest/gtest.h>

namespace articula::cli::gradient_suite_test {
namespace {

TEST(gradient_suite, has_the_answers_of_closed_forms) {
  for (const SuiteCase& c : gradient_suite())
    EXPECT_LT(c.error(), 1e-6) << c.name << ": " << c.found << ", not " << c.expected << " (" << c.why << ")";
}

}  // namespace
}  // namespace articula::cli::gradient_suite_test
