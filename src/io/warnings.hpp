#pragma once
// What a loader noticed and went on from.

#include <fmt/format.h>

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/xml.hpp"

namespace articula {

// The first hundred are told: a file with a million oddities takes neither the time nor the memory of a
// million messages.
class Warnings {
 public:
  // `text`: the message, or what makes it where it is told.
  template <class Text>
  void add(const xml::Element& element, const Text& text) {
    if (!has_room()) return;
    if constexpr (std::is_invocable_v<Text>) {
      lines_.push_back(fmt::format("{}: {:.1000}", element.label(), text()));
    } else {
      lines_.push_back(fmt::format("{}: {:.1000}", element.label(), text));
    }
  }
  // With the place it is about in it already.
  void add(std::string line) {
    if (has_room()) lines_.push_back(std::move(line));
  }
  // Of the first element of its kind only.
  template <class Text>
  void add_once(const xml::Element& element, const std::string& kind, const Text& text) {
    if (said_.contains(kind) || !has_room()) return;
    said_.insert(kind);
    add(element, text);
  }

  std::vector<std::string> take() {
    if (more_) lines_.emplace_back("there are more warnings; see to these first");
    return std::move(lines_);
  }

 private:
  bool has_room() {
    constexpr std::size_t most = 100;
    more_ |= lines_.size() >= most;
    return !more_;
  }

  std::vector<std::string> lines_;
  bool more_ = false;
  std::set<std::string> said_;
};

}  // namespace articula
