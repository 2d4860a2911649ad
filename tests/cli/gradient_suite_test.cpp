#include "cli/gradient_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace articula::cli::gradient_suite_test {
namespace {

TEST(gradient_suite, has_the_answers_of_closed_forms) {
  for (const SuiteCase& c : gradient_suite())
    EXPECT_LT(c.error(), 1e-6) << c.name << ": " << c.found << ", not " << c.expected << " (" << c.why << ")";
}

TEST(gradient_suite, has_every_situation_whose_answer_we_know) {
  const std::vector<SuiteCase> cases = gradient_suite();
  for (const char* situation :
       {"bounce/exact/", "bounce/elastic/", "two_balls/", "sliding_to_rest/", "incline/slides/",
        "incline/sticks/", "pendulum_at_limit/", "curved_surface/", "clamped_stack/", "tipping/ncp/",
        "tipping/lcp/", "about_to_tip/ncp/", "about_to_tip/lcp/", "tie/"})
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const SuiteCase& c) {
      return c.name.starts_with(situation);
    })) << situation;
}

}  // namespace
}  // namespace articula::cli::gradient_suite_test
