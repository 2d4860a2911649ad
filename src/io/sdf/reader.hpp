#pragma once
// The state of reading one SDF file and what it includes, and the stages that fill it, in the order they run.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "articula/io/sdf.hpp"
#include "io/mesh/library.hpp"
#include "io/warnings.hpp"
#include "io/xml.hpp"

namespace articula::sdf {

using xml::child_of;
using xml::Element;
using xml::fail;

// A model's children may refer to each other by name; `prefix` goes before the names of its links ("arm::").
struct Scope {
  std::string name;    // what is in it is called "name::..."; e.g. "world_model::arm"
  std::string frame;   // its own; `name`, but for a model that is merged into the one around it
  std::string prefix;  // of the bodies and joints in it
  Element element;
  std::filesystem::path directory;  // relative files are looked for here
  bool is_static = false, self_collide = false;
  int depth = 0;               // of nesting
  std::string canonical_link;  // its node; "" where there is none
};

// Anything that has a pose: models, links, frames, joints.
struct Node {
  Element element;
  Pose raw;                 // in `base`
  std::string base;         // full name; "" for the root
  std::string attached_to;  // full name of the link, frame, model or joint it moves with; "": a link itself
  std::string placement;    // models: full name of the frame that `raw` places
  enum class State { untouched, visiting, done } state = State::untouched;
  Pose pose;  // in the world, once it is resolved
};

struct Link {
  Element element;
  std::string name;   // of its body
  std::string frame;  // its node
  int scope = 0;
  InertiaDescription inertia;
  bool self_collide = false;
  int tree_joint = -1;  // that moves it; -1: a root
};

struct Joint {
  Element element;
  std::string name, type;
  std::string frame;  // its node
  int scope = 0;
  int parent = -1, child = -1;  // links; -1: the world
};

struct Frame {
  Element element;
  std::string name;   // in the description
  std::string frame;  // its node
};

struct Reader {
  const LoadOptions& options;
  std::vector<std::unique_ptr<xml::Tree>> trees{};
  std::vector<std::filesystem::path> open_files{};  // that are being included, outermost first
  std::size_t included = 0;
  std::vector<Scope> scopes{};
  std::unordered_map<std::string, Node> nodes{};
  std::vector<Link> links{};
  std::vector<Joint> joints{};
  std::vector<Frame> frames{};
  std::unordered_map<std::string, int> link_index{}, joint_index{};
  std::set<std::string> geometry_names{};
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

// ------------------------------------------------------------------ values (values.cpp)

std::vector<Element> children_of(const Element& parent, std::string_view name = {});
std::string text_of(const Element& element);  // without white space around it
// Each leaves the value alone where there is no such child, and returns whether there is.
bool read(const Element& parent, const char* child, double& value, bool infinite = false);
bool read(const Element& parent, const char* child, bool& value);
bool read(const Element& parent, const char* child, Vector3& value);
std::vector<double> numbers_of(const Element& element, bool infinite = false);
// The <pose> of an element, and the frame it is given in ("" for the usual one).
Pose read_pose(const Element& parent, std::string* relative_to);

// ------------------------------------------------------------------ stages

void read_world(Reader& reader, const Element& world, const std::filesystem::path& directory);  // models.cpp
// Returns the index of its scope. `include` is what included it, if anything did.
int read_model(Reader& reader, const Element& model, int outer, const std::string& prefix,
               const std::filesystem::path& directory, const Element& include);
int read_include(Reader& reader, const Element& include, int scope);  // includes.cpp
bool merges(const Element& include);  // what is in the model becomes part of the model around it
void check_children(Reader& reader, const Element& element);  // models.cpp

// poses.cpp. `name` as written in the scope; throws for what is not there.
std::string full_name(const Reader& reader, const Element& user, const Scope& scope, const std::string& name);
Pose pose_of(Reader& reader, const std::string& full_name);
int link_of(Reader& reader, const Element& user, const std::string& full_name);  // -1: the world

void connect_joints(Reader& reader);  // joints.cpp: who connects whom
std::vector<JointDescription> make_joints(Reader& reader, const Joint& joint);
void add_mimics(Reader& reader, const Joint& joint);
void close_loop(Reader& reader, const Joint& joint);
void build_tree(Reader& reader);                        // tree.cpp
void add_geometries(Reader& reader, const Link& link);  // geometry.cpp

}  // namespace articula::sdf
