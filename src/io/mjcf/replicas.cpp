#include "io/mjcf/replicas.hpp"

#include <algorithm>
#include <tuple>

namespace articula::mjcf {

int Replicas::open(int parent, std::size_t place, int index, std::string suffix) {
  const int depth = parent == no_replica ? 1 : 1 + all_[static_cast<std::size_t>(parent)].depth;
  all_.push_back({parent, depth, place, index, std::move(suffix)});
  return static_cast<int>(all_.size()) - 1;
}

void Replicas::add(Kind kind, const std::string& name, int replica) {
  Copies& copies = copies_[{kind, name}];
  if (copies.suffixes.insert(suffix(replica)).second) copies.replicas.push_back(replica);
  copies.depth = all_[static_cast<std::size_t>(replica)].depth;
}

int Replicas::around(int replica, int depth) const {
  while (replica != no_replica && all_[static_cast<std::size_t>(replica)].depth > depth)
    replica = all_[static_cast<std::size_t>(replica)].parent;
  return replica;
}

const Copies* Replicas::find(Kind kind, const std::string& name) const {
  const auto found = copies_.find({kind, name});
  return found == copies_.end() ? nullptr : &found->second;
}

std::vector<std::size_t> Replicas::ranks() const {
  std::vector<std::vector<std::size_t>> parts(all_.size() + 1);  // the last: of none
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const int parent = all_[i].parent;
    parts[parent == no_replica ? all_.size() : static_cast<std::size_t>(parent)].push_back(i);
  }
  const auto later = [&](std::size_t a, std::size_t b) {
    return std::tie(all_[a].place, all_[a].index) > std::tie(all_[b].place, all_[b].index);
  };
  for (auto& list : parts) std::sort(list.begin(), list.end(), later);  // for a stack: the first on top
  std::vector<std::size_t> ranks(all_.size()), pending = parts.back();
  for (std::size_t rank = 0; !pending.empty(); ++rank) {
    const std::size_t next = pending.back();
    pending.pop_back();
    ranks[next] = rank;
    pending.insert(pending.end(), parts[next].begin(), parts[next].end());
  }
  return ranks;
}

}  // namespace articula::mjcf
