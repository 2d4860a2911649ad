#pragma once

#include <string>
#include <vector>

namespace articula::cli {

/// One figure: a stable path such as `arm/rnea/ns`, so that it can be followed over time.
struct Row {
  std::string name;
  double value;
  std::string unit;
};

/// What a measuring command has to say: figures for machines and people, and remarks (why a figure is
/// missing, what a comparison leaves out).
struct Report {
  std::vector<Row> rows;
  std::vector<std::string> notes;

  /// A value that is not finite becomes a note instead of a row: a quantity that could not be measured has
  /// none.
  void add(std::string name, double value, std::string unit);
  void note(std::string remark);
};

/// `{"rows": [{"name", "value", "unit"}, ...], "notes": [...]}`, numbers with all their digits.
std::string to_json(const Report& report);

/// A table of the rows, then the notes.
std::string to_text(const Report& report);

/// To standard output, in one of the two forms.
void print(const Report& report, bool json);

}  // namespace articula::cli
