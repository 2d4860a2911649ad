#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace articula::cli {
namespace {

/// Code points, which is what a terminal shows: continuation bytes of UTF-8 (10xxxxxx) have no width.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table line needs one cell per column");
  lines_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = width(columns_[c].title);
    for (const auto& line : lines_) widest = std::max(widest, width(line[c]));
    widths.push_back(widest);
    titles.push_back(columns_[c].title);
    rules.emplace_back(widest, '-');
  }

  std::string text;
  const auto write = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(widths[c] - width(cells[c]), ' ');
      line += columns_[c].align == Align::right ? padding + cells[c] : cells[c] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  write(titles);
  write(rules);
  for (const auto& line : lines_) write(line);
  return text;
}

}  // namespace articula::cli
