#pragma once
// The state of reading one URDF model, and the stages that fill it, in the order they run.

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "articula/io/urdf.hpp"
#include "io/mesh/library.hpp"
#include "io/mjcf/attributes.hpp"
#include "io/rpy.hpp"

namespace articula::urdf {

using mjcf::Attributes;
using xml::Element;
using xml::fail;

struct Link {
  Element element;
  std::string name;
  InertiaDescription inertia;
  int parent_joint = -1;          // -1: a root
  std::vector<int> child_joints;  // in the order of the file
  // Where the link ended up: its body, and its own frame in that body's.
  std::string body;
  Pose pose;
};

enum class Motion { fixed, revolute, continuous, prismatic, planar, floating };

struct Joint {
  Element element;
  std::string name;
  Motion motion = Motion::fixed;
  int parent = -1, child = -1;  // links
  Pose origin;
};

struct Reader {
  const xml::Tree& tree;
  const LoadOptions& options;
  std::filesystem::path directory;
  std::vector<Link> links{};
  std::vector<Joint> joints{};
  std::unordered_map<std::string, int> link_index{}, joint_index{};
  std::map<std::string, std::array<float, 4>> materials{};
  std::set<std::string> geometry_names{}, said{};
  std::unordered_map<std::string, int> collision_count{};  // by link: names given to them
  MeshLibrary meshes{options.mesh_limits};
  Description description{};

  void warn(const Element& element, const std::string& text) {
    description.warnings.push_back(fmt::format("{}: {}", element.label(), text));
  }
  // Said of the first element of its kind only.
  void warn_once(const Element& element, const std::string& kind, const std::string& text) {
    if (said.insert(kind).second) warn(element, text + " (said once)");
  }
};

// The first child of that name; an element without a node where there is none.
Element child_of(const Reader& reader, const Element& parent, std::string_view name);
// <origin xyz rpy>, by default no displacement at all.
Pose read_origin(const Reader& reader, const Element& parent);
// -1 where there is no such link or joint.
int find(const std::unordered_map<std::string, int>& index, const std::string& name);
std::vector<std::string> names_of(const std::vector<Link>& links);

void check_schema(Reader& reader);  // schema.cpp: unknown elements, leftovers of xacro
void read_links(Reader& reader);    // links.cpp: names and inertias
void read_joints(Reader& reader);   // joints.cpp: names, types, who connects whom
void build_tree(Reader& reader);    // tree.cpp: bodies, joints, frames and geometry, depth first
std::vector<JointDescription> make_joints(Reader& reader, const Joint& joint, bool free);  // joints.cpp
void read_mimics(Reader& reader);                                                          // joints.cpp
void add_geometries(Reader& reader, const Link& link);                                     // geometry.cpp
void read_exclusions(Reader& reader);                                                      // exclusions.cpp
void read_srdf(Reader& reader, const std::filesystem::path& file);                         // exclusions.cpp

}  // namespace articula::urdf
