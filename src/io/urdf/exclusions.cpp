// Pairs of links that never collide, and frames that belong to no link of their own.

#include <algorithm>
#include <unordered_set>

#include "articula/model/names.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

// Each pair of links once, in the order met.
class PairCollector {
 public:
  explicit PairCollector(Reader& reader) : reader_(reader) {}

  void disable(const Element& element, const std::string& link1, const std::string& link2) {
    const int first = find_link(element, link1), second = find_link(element, link2);
    if (first >= 0 && second >= 0) disable(element, first, second);
  }
  void disable(const Element& element, int link1, int link2) {
    if (link1 == link2 || !seen_.insert(std::minmax(link1, link2)).second) return;
    if (seen_.size() > most_pairs) fail(element, "more than {} pairs of links are disabled", most_pairs);
    reader_.disabled_pairs.push_back({link1, link2, element.label()});
  }
  // -1, and a warning, where there is no such link.
  int find_link(const Element& element, const std::string& name) {
    const int index = find(reader_.link_index, name);
    if (index < 0) {
      reader_.warn(element, [&] {
        return fmt::format("there is no link '{:.100}', so this has no effect{}", name,
                           suggestion(name, names_of(reader_.links)));
      });
    }
    return index;
  }

 private:
  static constexpr std::size_t most_pairs = 100'000;
  Reader& reader_;
  std::set<std::pair<int, int>> seen_;
};

// Drake's groups: members of a group do not touch those of the groups it ignores.
void read_filter_groups(Reader& reader, PairCollector& pairs) {
  const std::vector<Element> groups = reader.tree.children(reader.tree.root(), "collision_filter_group");
  std::map<std::string, std::vector<int>> members;
  for (const Element& group : groups) {
    for (const Element& member : reader.tree.children(group, "member")) {
      const int link = pairs.find_link(member, member.text("link"));
      if (link >= 0) members[group.text("name")].push_back(link);
    }
  }
  std::size_t count = 0;
  constexpr std::size_t most_pairs = 200'000;  // counting both orders
  for (const Element& group : groups) {
    for (const Element& ignored : reader.tree.children(group, "ignored_collision_filter_group")) {
      const auto& first = members[group.text("name")];
      const auto& second = members[ignored.text("collision_filter_group")];
      count += first.size() * second.size();
      if (count > most_pairs) fail(group, "the groups make more than {} pairs", most_pairs);
      for (const int a : first) {
        for (const int b : second) pairs.disable(ignored, a, b);
      }
    }
  }
}

// MoveIt's <disable_default_collisions link="..."/> disables all pairs of a link but those it enables by
// name; what <disable_collisions> says holds in any case.
void read_srdf(Reader& reader, PairCollector& pairs, const std::filesystem::path& file) {
  const xml::Tree tree = xml::Tree::read(file, "");
  const Element root = tree.root();
  if (root.name() != "robot") fail(root, "the outermost element of an SRDF file is <robot>");
  for (const Element& element : tree.children(root, "disable_collisions")) {
    pairs.disable(element, element.text("link1"), element.text("link2"));
  }
  const std::vector<Element> silent = tree.children(root, "disable_default_collisions");
  if (silent.empty()) return;
  std::set<std::pair<int, int>> enabled;
  for (const Element& element : tree.children(root, "enable_collisions")) {
    const int first = pairs.find_link(element, element.text("link1"));
    const int second = pairs.find_link(element, element.text("link2"));
    enabled.insert(std::minmax(first, second));
  }
  for (const Element& element : silent) {
    const int link = pairs.find_link(element, element.text("link"));
    for (int other = 0; link >= 0 && other < static_cast<int>(reader.links.size()); ++other) {
      if (!enabled.contains(std::minmax(link, other))) pairs.disable(element, link, other);
    }
  }
}

}  // namespace

void read_disabled_pairs(Reader& reader) {
  PairCollector pairs(reader);
  read_filter_groups(reader, pairs);
  if (!reader.options.srdf.empty()) read_srdf(reader, pairs, reader.options.srdf);
}

// Where pairs are disabled, every link that collides has a body of its own: what is part of another is only
// a frame.
void add_exclusions(Reader& reader) {
  for (const DisabledPair& pair : reader.disabled_pairs) {
    const Link &first = reader.links[pair.link1], &second = reader.links[pair.link2];
    if (!first.is_body || !second.is_body) continue;
    reader.description.contact_exclusions.push_back({first.body, second.body, pair.where});
  }
}

// Drake's named frames on links.
void read_frames(Reader& reader) {
  std::unordered_set<std::string> taken;
  for (const FrameDescription& frame : reader.description.frames) taken.insert(frame.name);
  for (const Element& element : reader.tree.children(reader.tree.root(), "frame")) {
    const std::string name = element.text("name"), link_name = element.text("link");
    const int index = find(reader.link_index, link_name);
    if (index < 0) {
      fail(element, "attribute link: there is no link '{}'{}", link_name,
           suggestion(link_name, names_of(reader.links)));
    }
    if (name.empty() || !taken.insert(name).second) {
      reader.warn(element, "the frame has no name, or one that is taken, and is left out");
      continue;
    }
    const Attributes a(element);
    Vector3 rpy = Vector3::Zero();
    Pose pose;
    a.read("xyz", pose.position);
    a.read("rpy", rpy);
    pose.rotation = rotation_of_rpy(rpy);
    FrameDescription frame;
    frame.name = name;
    frame.body = reader.links[index].body;
    frame.pose = reader.links[index].pose * pose;
    frame.where = element.label();
    reader.description.frames.push_back(std::move(frame));
  }
}

}  // namespace articula::urdf
