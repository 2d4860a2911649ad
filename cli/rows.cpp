#include "cli/rows.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/table.hpp"

namespace articula::cli {

void Report::add(std::string name, double value, std::string unit) {
  if (std::isfinite(value)) {
    rows.push_back({std::move(name), value, std::move(unit)});
  } else {
    note(fmt::format("{}: no row, the value is {}", name, value));
  }
}

void Report::note(std::string remark) { notes.push_back(std::move(remark)); }

std::string to_json(const Report& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) {
    rows.push_back({{"name", row.name}, {"value", row.value}, {"unit", row.unit}});
  }
  nlohmann::ordered_json object;
  object["rows"] = std::move(rows);
  object["notes"] = report.notes;
  return object.dump(2) + "\n";
}

std::string to_text(const Report& report) {
  Table table({{"name"}, {"value", Align::right}, {"unit"}});
  for (const Row& row : report.rows) table.add({row.name, fmt::format("{:.6g}", row.value), row.unit});
  std::string text = report.rows.empty() ? std::string() : table.to_text();
  for (const std::string& remark : report.notes) text += fmt::format("note: {}\n", remark);
  return text;
}

void print(const Report& report, bool json) { fmt::print("{}", json ? to_json(report) : to_text(report)); }

}  // namespace articula::cli
