#include "articula/model/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace articula {

namespace {

// Levenshtein's distance, or anything above `most` where it is above that.
size_t edit_distance(std::string_view a, std::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
    if (*std::min_element(row.begin(), row.end()) > most) return most + 1;
  }
  return row.back();
}

// How far a name is from another; one that is cut off is as near as a misprint. Far is what differs in more
// than every third letter, or shares none.
constexpr size_t far = 1000;
size_t distance(std::string_view name, std::string_view other) {
  constexpr size_t shortest_part = 3;
  const auto begins = [](std::string_view a, std::string_view b) {
    return b.size() >= shortest_part && a.starts_with(b);
  };
  if (name != other && (begins(name, other) || begins(other, name))) return 1;
  const size_t most = std::max<size_t>(name.size() / 3, 1);
  const size_t found = edit_distance(name, other, most);
  return found <= most && found < std::max(name.size(), other.size()) ? found : far;
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  constexpr size_t longest_name = 64, most_names = 1000;
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const std::string& candidate : known.first(std::min(known.size(), most_names))) {
    if (name.size() > longest_name || candidate.size() > longest_name) continue;
    const size_t d = distance(name, candidate);
    if (d < far) near.emplace_back(d, candidate);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 1 && near[1].first <= near[0].first + 1) {
    return fmt::format("; did you mean '{}' or '{}'?", near[0].second, near[1].second);
  }
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near[0].second);
  std::string list = "; there are ";
  for (size_t i = 0; i < known.size() && i < 6; ++i) {
    list += fmt::format("{}'{:.60}'", i == 0 ? "" : ", ", known[i]);
  }
  return known.size() > 6 ? list + ", ..." : list;
}

}  // namespace articula
