// Pairs of links that never collide, and frames that belong to no link of their own.

#include <algorithm>

#include "articula/model/names.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

// Each pair of bodies once, in the order met.
class Exclusions {
 public:
  explicit Exclusions(Reader& reader) : reader_(reader) {}

  void add(const Element& element, const std::string& link1, const std::string& link2) {
    const Link *first = find_link(element, link1), *second = find_link(element, link2);
    if (first == nullptr || second == nullptr || first->body == second->body) return;
    if (!seen_.insert(std::minmax(first->body, second->body)).second) return;
    reader_.description.contact_exclusions.push_back({first->body, second->body, element.label()});
  }

 private:
  const Link* find_link(const Element& element, const std::string& name) {
    const int index = find(reader_.link_index, name);
    if (index >= 0) return &reader_.links[index];
    reader_.warn(element, fmt::format("there is no link '{}', so the pair is left out{}", name,
                                      suggestion(name, names_of(reader_.links))));
    return nullptr;
  }

  Reader& reader_;
  std::set<std::pair<std::string, std::string>> seen_;
};

// Drake's groups: members of a group do not touch those of the groups it ignores.
void read_filter_groups(Reader& reader, Exclusions& exclusions) {
  const std::vector<Element> groups = reader.tree.children(reader.tree.root(), "collision_filter_group");
  std::map<std::string, std::vector<std::string>> members;
  for (const Element& group : groups) {
    for (const Element& member : reader.tree.children(group, "member")) {
      members[group.text("name")].push_back(member.text("link"));
    }
  }
  std::size_t pairs = 0;
  constexpr std::size_t most_pairs = 1'000'000;
  for (const Element& group : groups) {
    for (const Element& ignored : reader.tree.children(group, "ignored_collision_filter_group")) {
      const auto& first = members[group.text("name")];
      const auto& second = members[ignored.text("collision_filter_group")];
      pairs += first.size() * second.size();
      if (pairs > most_pairs) fail(group, "the groups make more than {} pairs", most_pairs);
      for (const std::string& a : first) {
        for (const std::string& b : second) exclusions.add(ignored, a, b);
      }
    }
  }
}

// Drake's named frames on links.
void read_frames(Reader& reader) {
  for (const Element& element : reader.tree.children(reader.tree.root(), "frame")) {
    const std::string name = element.text("name"), link_name = element.text("link");
    const int index = find(reader.link_index, link_name);
    if (index < 0) {
      fail(element, "attribute link: there is no link '{}'{}", link_name,
           suggestion(link_name, names_of(reader.links)));
    }
    const bool taken = std::any_of(reader.description.frames.begin(), reader.description.frames.end(),
                                   [&](const FrameDescription& f) { return f.name == name; });
    if (name.empty() || taken) {
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

}  // namespace

void read_exclusions(Reader& reader) {
  Exclusions exclusions(reader);
  read_filter_groups(reader, exclusions);
  read_frames(reader);
}

void read_srdf(Reader& reader, const std::filesystem::path& file) {
  const xml::Tree tree = xml::Tree::read(file, "");
  const Element root = tree.root();
  if (root.name() != "robot") fail(root, "the outermost element of an SRDF file is <robot>");
  Exclusions exclusions(reader);
  for (const Element& element : tree.children(root, "disable_collisions")) {
    exclusions.add(element, element.text("link1"), element.text("link2"));
  }
}

}  // namespace articula::urdf
