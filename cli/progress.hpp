#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace articula::cli {

/// A bar on standard error for work that takes longer than a second; silent where standard error is no
/// terminal.
class Progress {
 public:
  Progress(std::string label, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more part of the total is done. Cheap enough for an inner loop: it draws ten times a second at most.
  void advance(std::size_t parts = 1);

 private:
  using Clock = std::chrono::steady_clock;

  void draw() const;

  std::string label_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool on_terminal_;
  bool drawn_ = false;
  Clock::time_point next_draw_;
};

}  // namespace articula::cli
