#pragma once

#include <optional>
#include <string>

namespace articula::testing {

/// Sets an environment variable while it lives, and restores what was there before.
class Environment {
 public:
  Environment(const char* name, const std::string& value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace articula::testing
