#pragma once
// The state of reading one MJCF model, and the stages that fill it, in the order they run.

#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "articula/io/mjcf.hpp"
#include "io/mesh/finish.hpp"
#include "io/mjcf/actuator_settings.hpp"
#include "io/mjcf/attributes.hpp"
#include "io/mjcf/replicas.hpp"
#include "io/warnings.hpp"

namespace articula::mjcf {

// <compiler>: how the file is to be read.
struct Compiler {
  bool degrees = true;
  std::string euler_sequence = "xyz";  // lower case: about the turned axes; upper case: the fixed ones
  bool automatic_limits = true;
  Switch inertia_from_geometry = Switch::automatic;
  std::array<double, 2> inertia_groups{0, 5};
  double least_mass = 0.0, least_inertia = 0.0, total_mass = -1.0;
  bool balance_inertia = false, fuse_static = false, discard_visual = false, align_free = false;
  bool fit_bounding_box = false, strip_path = false;
  std::string asset_directory, mesh_directory;

  double angle(double value) const { return degrees ? value * (std::numbers::pi / 180.0) : value; }
  const std::string& directory_of_meshes() const {
    return mesh_directory.empty() ? asset_directory : mesh_directory;
  }
};

// <option>: parts of the physics that the file turns off.
struct Flags {
  bool constraint = true, equality = true, dry_friction = true, limit = true, contact = true, spring = true,
       damper = true, gravity = true, clamp_control = true, actuation = true;
  std::bitset<31> disabled_groups;  // of actuators
};

struct DefaultClass {
  std::string name;
  std::map<std::string, Defaults, std::less<>> defaults;  // by kind of element
  ActuatorDefaults actuator;
};

// A mesh of <asset>, made when the first geometry uses it.
struct MeshAsset {
  Element element;
  bool collides = false;       // needs a hull
  bool kept = false;           // some geometry in the description has it
  std::shared_ptr<Mesh> mesh;  // null until it is used
  MeshMeasures measures;
};

struct HeightFieldAsset {
  Element element;
  std::shared_ptr<const HeightField> field;  // null until it is used
};

// A model as <attach> takes it: springs and dampers that are given by the motion they should make wait for
// the whole that they become part of.
struct Attachable {
  Description description;
  std::map<std::pair<std::string, std::size_t>, std::array<double, 2>> spring_dampers;  // by body and joint
  std::vector<double> damping_ratios;  // of every actuator; 0: none
  std::size_t field_cells = 0, mesh_vertices = 0;
};

struct Reader {
  const xml::Tree& tree;
  const LoadOptions& options;
  Compiler compiler{};
  Flags flags{};
  std::map<std::string, DefaultClass, std::less<>> classes{};
  std::map<std::string, MeshAsset, std::less<>> meshes{};
  std::map<std::string, TriangleMesh> mesh_files{};  // by path, as read
  std::map<std::string, HeightFieldAsset, std::less<>> height_fields{};
  std::size_t field_cells = 0, mesh_vertices = 0;                        // of all assets made so far
  std::map<std::string, std::array<float, 4>, std::less<>> materials{};  // colours
  std::unordered_set<std::string> paired_geometry_names{};               // by <pair>
  std::unordered_set<std::string> sensed_names{};                        // by sensors, of geometries too
  std::unordered_set<std::string> used_cameras{};                        // by sensors,
  std::unordered_set<std::string> following_cameras{};                   // and of those, not fixed to a body
  Replicas replicas{};
  int current_replica = no_replica;                   // of the element that for_each_instance has come to
  std::unordered_set<std::string> kept_bodies{};      // not to be fused
  std::unordered_set<std::size_t> site_equalities{};  // by index: those given by sites, not bodies
  std::unordered_set<std::string> drawn_tendons{};    // spatial ones, left out
  std::unordered_set<std::string> lost_actuators{};   // that tie a replica to something outside
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> joint_index{};  // body, joint
  std::unordered_map<std::string, std::size_t> site_index{}, tendon_index{};
  std::unordered_map<std::string, Vector2> idle_ranges{};         // by joint: given, but limited="false"
  std::map<std::size_t, std::array<double, 2>> spring_dampers{};  // by joint: time constant, damping ratio
  std::map<std::size_t, double> damping_ratios{};                 // by actuator
  std::size_t joint_count = 0;
  std::size_t element_count = 0;
  std::map<std::string, Attachable> models{};     // by path: what <attach> takes parts of
  std::vector<double> attached_damping_ratios{};  // of the actuators that came with them
  Warnings warnings{};
  Description description{};

  // The children of all top-level sections of that name, in order.
  std::vector<Element> section(std::string_view name) const;
  template <class Text>
  void warn(const Element& element, const Text& text) {
    warnings.add(element, text);
  }
  // Every element made counts, so that a few nested <replicate> cannot fill the memory.
  void count(const Element& element, std::size_t made = 1) {
    element_count += made;
    if (element_count > options.most_elements) {
      fail(element, "the model has more than {} elements; lower the count of <replicate> and <attach>",
           options.most_elements);
    }
  }
};

// The class an element names, else the one its surroundings give it.
const DefaultClass& class_of(const Reader& reader, const Element& element, const DefaultClass* surrounding);
const DefaultClass& find_class(const Reader& reader, const Element& element, const char* attribute);
// The element on top of its class's defaults for `kind` (the element's own name, as a rule).
Attributes with_defaults(const Reader& reader, const Element& element, std::string_view kind,
                         const DefaultClass* surrounding = nullptr);

// The frame of a camera that sensors refer to. Sites have names of their own; none has this form.
inline std::string camera_frame(const std::string& camera) { return "camera:" + camera; }

void check_schema(Reader& reader);   // schema.cpp: unknown and refused elements and attributes
void read_compiler(Reader& reader);  // options.cpp
void read_options(Reader& reader);
void read_defaults(Reader& reader);    // defaults.cpp
void read_assets(Reader& reader);      // assets.cpp
void read_tree(Reader& reader);        // tree.cpp: bodies, joints, geometries, sites
void read_extensions(Reader& reader);  // extensions.cpp
void read_contacts(Reader& reader);    // constraints.cpp
void read_equalities(Reader& reader);
void drop_idle_equalities(Reader& reader);
void read_tendons(Reader& reader);
void read_actuators(Reader& reader);             // actuators.cpp
void resolve_reference_inertia(Reader& reader);  // reference_inertia.cpp: springdamper and dampratio
void read_sensors(Reader& reader);               // sensors.cpp
void apply_flags(Reader& reader);                // options.cpp: what <flag> turns off
void read_keyframes(Reader& reader);             // keyframes.cpp

// Calls `read(element, suffix)` for every element: those that refer to nothing replicated first, with
// an empty suffix, then, replica by replica, those that do. This is the order MuJoCo gives them.
void for_each_instance(Reader& reader, const std::vector<Element>& elements,
                       const std::function<void(const Element&, const std::string&)>& read);
// Without the elements that tie a replica to something outside it, each with a warning.
std::vector<Element> without_straddling(Reader& reader, std::vector<Element> elements);
// The name of what an element of a replica refers to: the replica's own where there is one.
std::string resolve(const Reader& reader, Kind kind, const std::string& name, const std::string& suffix);

}  // namespace articula::mjcf
