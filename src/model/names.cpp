#include "articula/model/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace articula {

namespace {

// Levenshtein's distance.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  constexpr size_t longest_name = 200, most_names = 2000;
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const std::string& candidate : known.first(std::min(known.size(), most_names))) {
    if (name.size() > longest_name || candidate.size() > longest_name) continue;
    near.emplace_back(edit_distance(name, candidate), candidate);
  }
  std::sort(near.begin(), near.end());
  const size_t close_enough = name.size() / 3 + 1;
  if (!near.empty() && near[0].first <= close_enough) {
    if (near.size() > 1 && near[1].first <= close_enough) {
      return fmt::format("; did you mean '{}' or '{}'?", near[0].second, near[1].second);
    }
    return fmt::format("; did you mean '{}'?", near[0].second);
  }
  std::string list = "; there are ";
  for (size_t i = 0; i < known.size() && i < 6; ++i) {
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", known[i]);
  }
  return known.size() > 6 ? list + ", ..." : list;
}

}  // namespace articula
