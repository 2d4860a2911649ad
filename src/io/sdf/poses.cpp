#include "articula/model/names.hpp"
#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace {

Node& node_named(Reader& reader, const Element& user, const std::string& name) {
  const auto found = reader.nodes.find(name);
  if (found != reader.nodes.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, node] : reader.nodes) known.push_back(other);
  std::sort(known.begin(), known.end());
  fail(user, "there is no link, joint, frame or model '{}'{}", name, suggestion(name, known));
}

// Where a model's frame is in its base, given where `placement` in it is to be.
Pose placed_model(Reader& reader, const std::string& name, const Node& node) {
  if (node.placement.empty()) return node.raw;
  Pose inner;
  std::size_t steps = 0;
  for (std::string at = node.placement; at != name;) {
    const Node& next = node_named(reader, node.element, at);
    if (next.base.empty() || ++steps > reader.nodes.size()) {
      fail(node.element, "placement_frame '{}' is not inside the model", node.placement);
    }
    inner = placed_model(reader, at, next) * inner;
    at = next.base;
  }
  return node.raw * inverse(inner);
}

}  // namespace

std::string full_name(const Reader& reader, const Element& user, const Scope& scope,
                      const std::string& name) {
  if (name == "world" || name == "__root__") return "world";
  if (name == "__model__" || name.empty()) return scope.frame;
  const std::string full = (scope.name == "world" ? "" : scope.name + "::") + name;
  if (reader.nodes.contains(full)) return full;
  std::vector<std::string> known;
  const std::string prefix = scope.name == "world" ? "" : scope.name + "::";
  for (const auto& [other, node] : reader.nodes) {
    if (other.starts_with(prefix)) known.push_back(other.substr(prefix.size()));
  }
  std::sort(known.begin(), known.end());
  fail(user, "there is no link, joint, frame or model '{}'{}", name, suggestion(name, known));
}

// Along the chain of bases, without recursion.
Pose pose_of(Reader& reader, const std::string& name) {
  std::vector<std::string> chain;
  for (std::string at = name;;) {
    Node& node = node_named(reader, chain.empty() ? Element{} : reader.nodes.at(chain.back()).element, at);
    if (node.state == Node::State::done) break;
    if (node.state == Node::State::visiting) {
      fail(node.element, "its pose is relative to itself, by way of other frames; break the circle");
    }
    node.state = Node::State::visiting;
    chain.push_back(at);
    at = node.base;
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    Node& node = reader.nodes.at(*at);
    node.pose = reader.nodes.at(node.base).pose * placed_model(reader, *at, node);
    node.state = Node::State::done;
  }
  return reader.nodes.at(name).pose;
}

// What was passed on the way is then attached to the link itself, so that no chain is walked twice.
int link_of(Reader& reader, const Element& user, const std::string& name) {
  std::vector<Node*> passed;
  std::string at = name;
  while (at != "world" && !reader.link_index.contains(at)) {
    Node& node = node_named(reader, user, at);
    if (node.attached_to.empty() || passed.size() > reader.nodes.size()) {
      fail(user, "'{}' is attached to itself, by way of other frames; break the circle", name);
    }
    passed.push_back(&node);
    at = node.attached_to;
  }
  for (Node* node : passed) node->attached_to = at;
  return at == "world" ? -1 : reader.link_index.at(at);
}

}  // namespace articula::sdf
