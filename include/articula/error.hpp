#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace articula {

/// Bad input at the boundary (loading, building, configuring). The message names the file, line or element
/// and says what would be accepted instead. The hot path never throws: it returns a status.
///
///     throw Error("joint '{}': the axis has no length", name);
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  template <class First, class... Rest>
  explicit Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : std::runtime_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

}  // namespace articula
