#pragma once

#include <string>
#include <vector>

namespace articula::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

/// A readable table: columns as wide as their widest cell, a rule under the titles.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// One cell per column.
  void add(std::vector<std::string> cells);
  std::string to_text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace articula::cli
