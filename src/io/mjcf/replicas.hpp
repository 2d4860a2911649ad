#pragma once
// What <replicate> made, and in which order.

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace articula::mjcf {

enum class Kind { body, joint, site, geometry, tendon, actuator, equality, sensor };

constexpr int no_replica = -1;

// The copies of one name.
struct Copies {
  std::vector<int> replicas;  // that have one each
  std::unordered_set<std::string> suffixes;
  int depth = 0;  // how many <replicate> are around them
};

class Replicas {
 public:
  // The copy `index` that the <replicate> at `place` in the file makes, as a part of `parent`.
  int open(int parent, std::size_t place, int index, std::string suffix);
  const std::string& suffix(int replica) const { return all_[static_cast<std::size_t>(replica)].suffix; }
  // The replica itself, or the one around it that is nested as deep as that.
  int around(int replica, int depth) const;

  // There is a copy of the name in the replica.
  void add(Kind kind, const std::string& name, int replica);
  bool empty() const { return copies_.empty(); }
  const Copies* find(Kind kind, const std::string& name) const;  // null where the name has no copies

  // The place of every replica in the order that MuJoCo gives them: the parts of one follow it, those of one
  // <replicate> those of another that stands before it.
  std::vector<std::size_t> ranks() const;

 private:
  struct Replica {
    int parent = no_replica, depth = 0;
    std::size_t place = 0;
    int index = 0;
    std::string suffix;
  };
  std::vector<Replica> all_;
  std::map<std::pair<Kind, std::string>, Copies> copies_;
};

}  // namespace articula::mjcf
