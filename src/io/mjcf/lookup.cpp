#include "io/mjcf/lookup.hpp"

#include <algorithm>

#include "articula/model/names.hpp"

namespace articula::mjcf {

namespace {

struct ReferringAttribute {
  const char* name;
  Kind kind;
};

constexpr std::array referring{
    ReferringAttribute{"joint", Kind::joint},      ReferringAttribute{"jointinparent", Kind::joint},
    ReferringAttribute{"joint1", Kind::joint},     ReferringAttribute{"joint2", Kind::joint},
    ReferringAttribute{"site", Kind::site},        ReferringAttribute{"refsite", Kind::site},
    ReferringAttribute{"site1", Kind::site},       ReferringAttribute{"site2", Kind::site},
    ReferringAttribute{"body", Kind::body},        ReferringAttribute{"body1", Kind::body},
    ReferringAttribute{"body2", Kind::body},       ReferringAttribute{"geom1", Kind::geometry},
    ReferringAttribute{"geom2", Kind::geometry},   ReferringAttribute{"tendon", Kind::tendon},
    ReferringAttribute{"tendon1", Kind::tendon},   ReferringAttribute{"tendon2", Kind::tendon},
    ReferringAttribute{"actuator", Kind::actuator}};

Kind kind_of_object(const std::string& type) {
  if (type == "site" || type == "camera") return Kind::site;
  if (type == "geom") return Kind::geometry;
  return Kind::body;
}

// The one of the two that is nested deeper, the first where they are level.
const Copies* inner(const Copies* first, const Copies* second) {
  if (first == nullptr || second == nullptr) return first == nullptr ? second : first;
  return second->depth > first->depth ? second : first;
}

const Copies* own_copies(const Reader& reader, const Element& element) {
  const Copies* found = nullptr;
  const auto look_at = [&](Kind kind, const char* name, const std::string& type) {
    if (element.attribute(name) == nullptr) return;
    const std::string given = element.text(name);
    found = inner(found, reader.replicas.find(kind, type == "camera" ? camera_frame(given) : given));
  };
  for (const auto& [name, kind] : referring) look_at(kind, name, "");
  for (const auto& [type, name] : {std::pair("objtype", "objname"), std::pair("reftype", "refname")})
    look_at(kind_of_object(element.text(type)), name, element.text(type));
  return found;
}

// Of the innermost replicated thing that an element or one of its children refers to: those around it are
// told by it.
const Copies* copies_of(const Reader& reader, const Element& element) {
  const Copies* found = own_copies(reader, element);
  for (const Element& child : reader.tree.children(element)) found = inner(found, own_copies(reader, child));
  return found;
}

// Whether its two ends, neither of them the world, are not copied together.
bool straddles(const Reader& reader, const Element& element) {
  struct Ends {
    const char *first, *second;
    Kind kind;
  };
  constexpr std::array all{Ends{"site", "refsite", Kind::site}, Ends{"site1", "site2", Kind::site},
                           Ends{"joint1", "joint2", Kind::joint}, Ends{"body1", "body2", Kind::body},
                           Ends{"tendon1", "tendon2", Kind::tendon}};
  for (const Ends& ends : all) {
    if (element.attribute(ends.first) == nullptr || element.attribute(ends.second) == nullptr) continue;
    const std::string first = element.text(ends.first), second = element.text(ends.second);
    if (ends.kind == Kind::body && (first == "world" || second == "world")) continue;
    const Copies* copies = reader.replicas.find(ends.kind, first);
    const Copies* others = reader.replicas.find(ends.kind, second);
    if ((copies == nullptr) != (others == nullptr)) return true;
    if (copies != nullptr && copies->replicas != others->replicas) return true;
  }
  return false;
}

}  // namespace

std::vector<Element> without_straddling(Reader& reader, std::vector<Element> elements) {
  if (reader.replicas.empty()) return elements;
  std::erase_if(elements, [&](const Element& element) {
    if (!straddles(reader, element)) return false;
    if (element.attribute("site") != nullptr) reader.lost_actuators.insert(element.text("name"));
    reader.warn(element,
                "it ties what <replicate> made to something outside; as in MuJoCo it is left out (write the "
                "copies and their ties out to have them)");
    return true;
  });
  return elements;
}

void for_each_instance(Reader& reader, const std::vector<Element>& elements,
                       const std::function<void(const Element&, const std::string&)>& read) {
  if (reader.replicas.empty()) {
    for (const Element& element : elements) read(element, "");
    return;
  }
  struct Instance {
    std::size_t rank, element;
    int replica;
    auto operator<=>(const Instance&) const = default;
  };
  const std::vector<std::size_t> ranks = reader.replicas.ranks();
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Copies* copies = copies_of(reader, elements[i]);
    if (copies == nullptr) {
      read(elements[i], "");
      continue;
    }
    reader.count(elements[i], copies->replicas.size());
    for (const int replica : copies->replicas)
      instances.push_back({ranks[static_cast<std::size_t>(replica)], i, replica});
  }
  std::sort(instances.begin(), instances.end());
  for (const Instance& instance : instances) {
    reader.current_replica = instance.replica;
    read(elements[instance.element], reader.replicas.suffix(instance.replica));
  }
  reader.current_replica = no_replica;
}

std::string resolve(const Reader& reader, Kind kind, const std::string& name, const std::string& suffix) {
  const Copies* found = suffix.empty() ? nullptr : reader.replicas.find(kind, name);
  if (found == nullptr) return name;
  const int replica = reader.replicas.around(reader.current_replica, found->depth);
  if (replica == no_replica) return name;
  const std::string& own = reader.replicas.suffix(replica);
  return found->suffixes.contains(own) ? name + own : name;
}

std::string instance_name(const Element& element, const std::string& suffix) {
  const std::string name = element.text("name");
  return name.empty() ? name : name + suffix;
}

void index_tree(Reader& reader) {
  const Description& d = reader.description;
  for (std::size_t b = 0; b < d.bodies.size(); ++b) {
    for (std::size_t j = 0; j < d.bodies[b].joints.size(); ++j) {
      reader.joint_index.emplace(d.bodies[b].joints[j].name, std::pair(b, j));
    }
  }
  for (std::size_t i = 0; i < d.frames.size(); ++i) reader.site_index.emplace(d.frames[i].name, i);
}

const FrameDescription& find_site(const Reader& reader, const Element& element, const char* attribute,
                                  const std::string& name) {
  if (name.empty()) fail(element, "attribute {} is missing; add it", attribute);
  const auto found = reader.site_index.find(name);
  if (found != reader.site_index.end()) return reader.description.frames[found->second];
  std::vector<std::string> known;
  for (const FrameDescription& site : reader.description.frames) known.push_back(site.name);
  fail(element, "attribute {}: there is no site '{}'{}", attribute, name, suggestion(name, known));
}

const JointDescription* find_joint(const Reader& reader, const std::string& name) {
  const auto found = reader.joint_index.find(name);
  if (found == reader.joint_index.end()) return nullptr;
  return &reader.description.bodies[found->second.first].joints[found->second.second];
}

const TendonDescription* find_tendon(const Reader& reader, const std::string& name) {
  const auto found = reader.tendon_index.find(name);
  return found == reader.tendon_index.end() ? nullptr : &reader.description.tendons[found->second];
}

void refuse_drawn_tendon(const Reader& reader, const Element& element,
                         std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (reader.drawn_tendons.contains(name)) {
      fail(element,
           "it acts on the spatial tendon '{}', which is not supported, and leaving it out would change the "
           "motion; use a fixed tendon",
           name);
    }
  }
}

}  // namespace articula::mjcf
