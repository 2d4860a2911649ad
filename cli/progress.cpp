#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace articula::cli {
namespace {

constexpr std::chrono::milliseconds patience{1000};
constexpr std::chrono::milliseconds interval{100};
constexpr std::size_t bar_width = 30;

}  // namespace

Progress::Progress(std::string label, std::size_t total)
    : label_(std::move(label)),
      total_(std::max<std::size_t>(total, 1)),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      next_draw_(Clock::now() + patience) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);  // leave the line to the result
}

void Progress::advance(std::size_t parts) {
  done_ = std::min(done_ + parts, total_);
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + interval;
  drawn_ = true;
  draw();
}

void Progress::draw() const {
  const std::size_t filled = bar_width * done_ / total_;
  fmt::print(stderr, "\r\x1b[K{} [{}{}] {:3}%", label_, std::string(filled, '#'),
             std::string(bar_width - filled, '.'), 100 * done_ / total_);
  std::fflush(stderr);
}

}  // namespace articula::cli
