#pragma once

#include <string_view>
#include <unordered_map>

#include "articula/error.hpp"
#include "articula/model/description.hpp"

namespace articula {

// A joint mimics one other, its equality's second. Where they go round in a circle nobody leads: the joints
// would be locked, or free to drift apart.
inline void refuse_circles_of_mimics(const Description& description) {
  std::unordered_map<std::string_view, const EqualityDescription*> own;
  for (const EqualityDescription& e : description.equalities) {
    if (e.type == EqualityType::joint) own.emplace(e.first, &e);
  }
  std::unordered_map<std::string_view, std::size_t> seen;  // by which walk
  std::size_t walk = 0;
  for (const EqualityDescription& start : description.equalities) {
    ++walk;
    for (auto next = own.find(start.first); next != own.end(); next = own.find(next->second->second)) {
      const EqualityDescription& e = *next->second;
      const auto [place, first_time] = seen.emplace(e.first, walk);
      if (first_time) continue;
      if (place->second != walk) break;
      throw Error("{}: joint '{}' mimics itself by way of '{}'; let one of them lead", e.where, e.first,
                  e.second);
    }
  }
}

}  // namespace articula
