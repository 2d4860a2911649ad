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
#include "io/warnings.hpp"

namespace articula::urdf {

using mjcf::Attributes;
using xml::child_of;
using xml::Element;
using xml::fail;

struct Link {
  Element element;
  std::string name;
  InertiaDescription inertia;
  bool collides = false;
  int parent_joint = -1;          // -1: a root
  std::vector<int> child_joints;  // in the order of the file
  // Where the link ended up: its body, its own frame in that body's, and whether nothing else is that body.
  std::string body;
  Pose pose;
  bool is_body = false;
  bool is_static = false;  // fixed to the world
};

// Two links that never collide, and where that is said.
struct DisabledPair {
  int link1 = -1, link2 = -1;
  std::string where;
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
  std::vector<DisabledPair> disabled_pairs{};
  std::unordered_map<std::string, int> link_index{}, joint_index{};
  std::map<std::string, std::array<float, 4>> materials{};
  std::set<std::string> geometry_names{};
  bool materials_read = false;
  std::unordered_map<std::string, int> collision_count{};  // by link: names given to them
  MeshLibrary meshes{options.mesh_limits};
  Warnings warnings{};
  Description description{};

  template <class Text>
  void warn(const Element& element, const Text& text) {
    warnings.add(element, text);
  }
  // Said of the first element of its kind only.
  void warn_once(const Element& element, const std::string& kind, const std::string& text) {
    warnings.add_once(element, kind, text + " (said once)");
  }
};

// <origin xyz rpy>, by default no displacement at all.
Pose read_origin(const Element& parent);
// -1 where there is no such link or joint.
int find(const std::unordered_map<std::string, int>& index, const std::string& name);
std::vector<std::string> names_of(const std::vector<Link>& links);

void check_schema(Reader& reader);  // schema.cpp: unknown elements, leftovers of xacro
void read_links(Reader& reader);    // links.cpp: names and inertias
void read_joints(Reader& reader);   // joints.cpp: names, types, who connects whom
// exclusions.cpp: pairs of Drake's groups, then of the SRDF file of the options
void read_disabled_pairs(Reader& reader);
void build_tree(Reader& reader);  // tree.cpp: bodies, joints, frames and geometry, depth first
std::vector<JointDescription> make_joints(Reader& reader, const Joint& joint, bool free);  // joints.cpp
void read_mimics(Reader& reader);                                                          // joints.cpp
void add_geometries(Reader& reader, const Link& link);                                     // geometry.cpp
void add_exclusions(Reader& reader);                                                       // exclusions.cpp
void read_frames(Reader& reader);                                                          // exclusions.cpp
void leave_out_overlaps(Reader& reader);                                                   // overlaps.cpp

}  // namespace articula::urdf
