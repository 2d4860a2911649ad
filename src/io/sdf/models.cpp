// Finds all models, links, joints and frames, and notes what their poses are relative to.

#include <array>

#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace {

constexpr std::string_view world_name = "world";

void add_node(Reader& reader, const std::string& name, Node node) {
  if (reader.nodes.size() > reader.options.most_elements) {
    fail(node.element, "there are more than {} models, links, joints and frames",
         reader.options.most_elements);
  }
  const Element element = node.element;
  if (!reader.nodes.emplace(name, std::move(node)).second) {
    fail(element, "something else in the same model is called '{}'; names must differ", element.text("name"));
  }
}

std::string required_name(const Element& element) {
  const std::string name = element.text("name");
  if (name.empty()) fail(element, "attribute name is missing; add it");
  if (name == world_name || name.starts_with("__")) {
    fail(element, "the name '{}' is reserved; choose another", name);
  }
  return name;
}

// Where a name of this scope is kept; whether it is there turns out later.
std::string in_scope(const Scope& scope, const std::string& name) {
  if (name == "__model__" || name.empty()) return scope.frame;
  if (name == "world" || name == "__root__") return std::string(world_name);
  return (scope.name == world_name ? "" : scope.name + "::") + name;
}

void add_link(Reader& reader, const Element& element, int scope_index) {
  const Scope& scope = reader.scopes[scope_index];
  const std::string name = required_name(element);
  Node node;
  node.element = element;
  std::string relative_to;
  node.raw = read_pose(element, &relative_to);
  node.base = in_scope(scope, relative_to);
  const std::string full = in_scope(scope, name);
  add_node(reader, full, node);
  check_children(reader, element);
  Link link;
  link.element = element;
  link.name = scope.prefix + name;
  link.frame = full;
  link.scope = scope_index;
  link.self_collide = scope.self_collide;
  read(element, "self_collide", link.self_collide);
  reader.link_index.emplace(full, static_cast<int>(reader.links.size()));
  reader.links.push_back(std::move(link));
}

void add_frame(Reader& reader, const Element& element, int scope_index) {
  const Scope& scope = reader.scopes[scope_index];
  const std::string name = required_name(element);
  Node node;
  node.element = element;
  std::string relative_to;
  node.raw = read_pose(element, &relative_to);
  node.attached_to = in_scope(scope, element.text("attached_to"));
  node.base = relative_to.empty() ? node.attached_to : in_scope(scope, relative_to);
  add_node(reader, in_scope(scope, name), node);
  reader.frames.push_back({element, scope.prefix + name, in_scope(scope, name)});
}

void add_joint(Reader& reader, const Element& element, int scope_index) {
  const Scope& scope = reader.scopes[scope_index];
  const std::string name = required_name(element);
  const Element child = child_of(element, "child"), parent = child_of(element, "parent");
  if (!child.node || text_of(child).empty()) fail(element, "<child> is missing; name the link that moves");
  if (!parent.node || text_of(parent).empty()) fail(element, "<parent> is missing; name a link, or world");
  Node node;
  node.element = element;
  std::string relative_to;
  node.raw = read_pose(element, &relative_to);
  node.attached_to = in_scope(scope, text_of(child));
  node.base = relative_to.empty() ? node.attached_to : in_scope(scope, relative_to);
  const std::string full = in_scope(scope, name);
  add_node(reader, full, node);
  check_children(reader, element);
  Joint joint;
  joint.element = element;
  joint.name = scope.prefix + name;
  joint.frame = full;
  joint.type = element.text("type");
  joint.scope = scope_index;
  reader.joint_index.emplace(full, static_cast<int>(reader.joints.size()));
  reader.joints.push_back(std::move(joint));
}

void add_model_node(Reader& reader, const Scope& scope, const Scope& around, const Element& include) {
  const Element& model = scope.element;
  Node node;
  node.element = model;
  std::string relative_to;
  const bool placed = include.node && child_of(include, "pose").node;
  node.raw = read_pose(placed ? include : model, &relative_to);
  node.base = in_scope(around, relative_to);
  std::string placement = model.text("placement_frame");
  if (include.node && child_of(include, "placement_frame").node) {
    placement = text_of(child_of(include, "placement_frame"));
  }
  if (!placement.empty()) node.placement = in_scope(scope, placement);
  add_node(reader, scope.frame, std::move(node));
}

struct Known {
  std::string_view element, children;
};

constexpr std::array known_children{
    Known{"sdf", " world model "},
    Known{"world", " gravity physics include model frame joint magnetic_field wind "},
    Known{"model",
          " static self_collide allow_auto_disable enable_wind include model frame pose link joint "},
    Known{"link",
          " pose inertial collision visual gravity kinematic enable_wind self_collide must_be_base_link "},
    Known{"joint", " pose parent child axis axis2 physics "},
    Known{"collision", " pose geometry surface laser_retro max_contacts density "},
    Known{"visual", " pose geometry material cast_shadows transparency laser_retro meta visibility_flags "},
};

}  // namespace

void check_children(Reader& reader, const Element& element) {
  for (const Known& known : known_children) {
    if (known.element != element.name()) continue;
    for (const Element& child : children_of(element)) {
      if (known.children.find(fmt::format(" {} ", child.name())) != std::string_view::npos) continue;
      reader.warn_once(
          child, fmt::format("{}/{}", element.name(), child.name()),
          fmt::format("the element has no meaning here inside <{}> and no effect", element.name()));
    }
  }
}

int read_model(Reader& reader, const Element& model, int outer, const std::string& prefix,
               const std::filesystem::path& directory, const Element& include) {
  const auto index = static_cast<int>(reader.scopes.size());
  check_children(reader, model);
  {
    const Scope& around = reader.scopes[outer];
    constexpr int deepest = 50;
    if (around.depth >= deepest) fail(model, "models are nested more than {} deep; flatten them", deepest);
    const Element given = include.node ? child_of(include, "name") : Element{};
    const std::string name = given.node ? text_of(given) : required_name(model);
    Scope scope;
    const bool merged = merges(include);
    scope.name = merged ? around.name : in_scope(around, name);
    scope.frame = merged ? in_scope(around, fmt::format("__merged__{}__", name)) : scope.name;
    scope.prefix = merged ? around.prefix : prefix;
    scope.element = model;
    scope.directory = directory;
    scope.depth = around.depth + 1;
    read(model, "static", scope.is_static);
    if (include.node) read(include, "static", scope.is_static);
    scope.is_static |= around.is_static;
    if (merged) scope.self_collide = around.self_collide;
    read(model, "self_collide", scope.self_collide);
    add_model_node(reader, scope, around, include);
    reader.scopes.push_back(std::move(scope));
  }
  std::string canonical = model.text("canonical_link");
  if (!canonical.empty()) canonical = in_scope(reader.scopes[index], canonical);
  for (const Element& child : children_of(model)) {
    std::string first_link;
    if (child.name() == "link") {
      add_link(reader, child, index);
      first_link = reader.links.back().frame;
    }
    if (child.name() == "joint") add_joint(reader, child, index);
    if (child.name() == "frame") add_frame(reader, child, index);
    if (child.name() == "model") {
      const std::string inner_prefix = reader.scopes[index].prefix + child.text("name") + "::";
      const int inner = read_model(reader, child, index, inner_prefix, directory, {});
      first_link = reader.scopes[inner].canonical_link;
    }
    if (child.name() == "include") {
      const int inner = read_include(reader, child, index);
      first_link = reader.scopes[inner].canonical_link;
    }
    if (canonical.empty()) canonical = first_link;
  }
  reader.nodes.at(reader.scopes[index].frame).attached_to =
      canonical.empty() ? std::string(world_name) : canonical;
  reader.scopes[index].canonical_link = std::move(canonical);
  return index;
}

void read_world(Reader& reader, const Element& world, const std::filesystem::path& directory) {
  Description& d = reader.description;
  check_children(reader, world);
  d.name = world.text("name");
  d.gravity = {0.0, 0.0, -9.8};  // SDF's default
  read(world, "gravity", d.gravity);
  read(world, "magnetic_field", d.magnetic_flux);
  const Element physics = child_of(world, "physics"), wind = child_of(world, "wind");
  if (physics.node && read(physics, "max_step_size", d.timestep) && !(d.timestep > 0.0)) {
    fail(physics, "max_step_size is {}; it must be positive", d.timestep);
  }
  if (wind.node) read(wind, "linear_velocity", d.medium.wind);

  reader.scopes[0].element = world;
  for (const Element& child : children_of(world)) {
    if (child.name() == "model") {
      read_model(reader, child, 0, child.text("name") + "::", directory, {});
    }
    if (child.name() == "include") read_include(reader, child, 0);
    if (child.name() == "frame") add_frame(reader, child, 0);
    if (child.name() == "joint") add_joint(reader, child, 0);
  }
}

}  // namespace articula::sdf
