#include "tests/support/environment.hpp"

#include <cstdlib>

namespace articula::testing {

Environment::Environment(const char* name, const std::string& value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = before;
  setenv(name, value.c_str(), 1);
}

Environment::~Environment() {
  if (before_) {
    setenv(name_, before_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

}  // namespace articula::testing
