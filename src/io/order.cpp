#include "io/order.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace articula {

namespace {

std::vector<std::size_t> depth_first(const std::vector<BodyDescription>& bodies) {
  std::unordered_map<std::string, std::vector<std::size_t>> children;
  for (std::size_t i = 0; i < bodies.size(); ++i) children[bodies[i].parent].push_back(i);
  std::vector<std::size_t> order, pending;
  const auto push_children = [&](const std::string& name) {
    const auto found = children.find(name);
    if (found != children.end()) pending.insert(pending.end(), found->second.rbegin(), found->second.rend());
  };
  push_children("world");
  while (!pending.empty()) {
    const std::size_t next = pending.back();
    pending.pop_back();
    order.push_back(next);
    push_children(bodies[next].name);
  }
  return order;
}

template <class Element>
void take(std::vector<Element>& elements, const std::vector<std::size_t>& order) {
  std::vector<Element> taken;
  taken.reserve(order.size());
  for (std::size_t i : order) taken.push_back(std::move(elements[i]));
  elements = std::move(taken);
}

// By way of indices: the buffer of std::stable_sort does not heed the alignment of our types.
template <class Element>
void sort_by_body(std::vector<Element>& elements, const std::unordered_map<std::string, std::size_t>& rank) {
  std::vector<std::pair<std::size_t, std::size_t>> ranks;
  for (std::size_t i = 0; i < elements.size(); ++i) ranks.emplace_back(rank.at(elements[i].body), i);
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::size_t> order;
  for (const auto& [unused, i] : ranks) order.push_back(i);
  take(elements, order);
}

}  // namespace

void order_as_tree(Description& d) {
  take(d.bodies, depth_first(d.bodies));
  std::unordered_map<std::string, std::size_t> rank{{"world", 0}};
  for (const BodyDescription& body : d.bodies) rank.emplace(body.name, rank.size());
  sort_by_body(d.frames, rank);
  sort_by_body(d.geometries, rank);
}

}  // namespace articula
