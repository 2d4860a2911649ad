#include "tests/support/load_attempt.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "tests/support/effort.hpp"

namespace articula::testing {

namespace {

struct Usage {
  double megabytes = 0.0, seconds = 0.0;
};

Usage usage(int whose) {
  rusage used{};
  getrusage(whose, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {static_cast<double>(used.ru_maxrss) / 1024.0, seconds(used.ru_utime) + seconds(used.ru_stime)};
}

}  // namespace

LoadAttempt attempt_to_load(const std::string& file) {
  int ends[2] = {};
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    const Usage before = usage(RUSAGE_SELF);
    std::string message;
    try {
      build(describe(file));
    } catch (const Error& error) {
      message = error.what();
    } catch (const std::exception& error) {
      message = std::string("not an Error: ") + error.what();
    }
    // Meshes of some formats are read by a process of their own.
    const Usage after = usage(RUSAGE_SELF), children = usage(RUSAGE_CHILDREN);
    const std::string report =
        fmt::format("{} {} {}", std::max(after.megabytes, children.megabytes) - before.megabytes,
                    after.seconds - before.seconds + children.seconds, message);
    std::ignore = write(ends[1], report.data(), report.size());
    _exit(0);
  }
  close(ends[1]);
  std::string report;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    report.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return {"the process died"};
  const std::size_t first = report.find(' '), second = report.find(' ', first + 1);
  return {report.substr(second + 1), std::stod(report.substr(first + 1)), std::stod(report)};
}

void expect_within_limits(const LoadAttempt& attempt) {
  EXPECT_LT(attempt.message.size(), 2000u);
  EXPECT_LT(attempt.seconds, sanitized ? 10.0 : 1.0);
  if (!sanitized) {
    EXPECT_LT(attempt.megabytes, 200.0);
  }
}

}  // namespace articula::testing
