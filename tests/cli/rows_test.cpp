#include "cli/rows.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

#include "cli/table.hpp"

namespace articula::cli::rows_test {
namespace {

TEST(Rows, json_keeps_every_digit) {
  Report report;
  report.add("arm/rnea/ns", 0.1 + 0.2, "ns");
  const auto parsed = nlohmann::json::parse(to_json(report));
  ASSERT_EQ(parsed["rows"].size(), 1U);
  EXPECT_EQ(parsed["rows"][0]["name"], "arm/rnea/ns");
  EXPECT_EQ(parsed["rows"][0]["value"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(parsed["rows"][0]["unit"], "ns");
}

TEST(Rows, what_is_not_finite_becomes_a_note) {
  Report report;
  report.add("a", std::numeric_limits<double>::quiet_NaN(), "ns");
  report.add("b", std::numeric_limits<double>::infinity(), "ns");
  EXPECT_TRUE(report.rows.empty());
  ASSERT_EQ(report.notes.size(), 2U);
  EXPECT_EQ(report.notes[0].rfind("a:", 0), 0U);
  EXPECT_EQ(report.notes[1].rfind("b:", 0), 0U);
}

TEST(Table, columns_are_as_wide_as_their_widest_cell) {
  Table table({{"name"}, {"value", Align::right}});
  table.add({"µ", "1"});
  table.add({"friction", "1000000"});
  EXPECT_EQ(table.to_text(),
            "name        value\n"
            "--------  -------\n"
            "µ               1\n"
            "friction  1000000\n");
}

}  // namespace
}  // namespace articula::cli::rows_test
