#pragma once
// Gradients with answers that can be written down (articula reproduce gradients/suite).

#include <string>
#include <vector>

namespace articula::cli {

struct SuiteCase {
  std::string name;
  double expected = 0.0, found = 0.0;
  std::string why;  // where the answer comes from

  double error() const;  // relative, with a floor
};

std::vector<SuiteCase> gradient_suite();

}  // namespace articula::cli
