#include "articula/io/mjcf.hpp"

#include "io/mjcf/assets.hpp"
#include "io/mjcf/attach.hpp"
#include "io/mjcf/body_inertia.hpp"
#include "io/mjcf/fuse.hpp"
#include "io/mjcf/lookup.hpp"
#include "io/mjcf/reader.hpp"

namespace articula {

namespace mjcf {

namespace {

// Geometries that pairs and sensors name must stay, even where nothing else would touch them; cameras are of
// interest only if sensors name them.
void note_used_objects(Reader& reader) {
  for (const Element& element : reader.section("contact")) {
    for (const char* attribute : {"geom1", "geom2"}) {
      if (element.attribute(attribute) != nullptr)
        reader.paired_geometry_names.insert(element.text(attribute));
    }
  }
  for (const Element& element : reader.section("sensor")) {
    for (const char* attribute : {"geom1", "geom2", "geom", "objname", "refname"}) {
      if (element.attribute(attribute) != nullptr) reader.sensed_names.insert(element.text(attribute));
    }
    if (element.text("objtype") == "camera") reader.used_cameras.insert(element.text("objname"));
    if (element.text("reftype") == "camera") reader.used_cameras.insert(element.text("refname"));
  }
}

// All of the file but what depends on the model that it may become part of.
void read_file(Reader& reader) {
  const Element root = reader.tree.root();
  if (root.name() != "mujoco") {
    fail(root, "the outermost element of an MJCF file is <mujoco>{}",
         root.name() == "mujocoinclude" ? "; this file is meant to be included by another" : "");
  }
  reader.description.name = root.attribute("model") ? root.text("model") : "MuJoCo Model";
  check_schema(reader);
  read_compiler(reader);
  read_options(reader);
  read_defaults(reader);
  read_assets(reader);
  note_used_objects(reader);
  read_tree(reader);
  read_extensions(reader);
  finish_meshes(reader);
  Description attached = set_aside_attached(reader);
  index_tree(reader);
  read_contacts(reader);
  read_tendons(reader);
  read_equalities(reader);
  read_actuators(reader);
  read_sensors(reader);
  append_attached(reader, std::move(attached));
  if (reader.compiler.fuse_static) fuse_static(reader);
  drop_idle_equalities(reader);
  // What was fused with the world is no longer part of the total.
  if (reader.compiler.total_mass > 0.0) set_total_mass(reader.description, reader.compiler.total_mass);
  read_keyframes(reader);
  reader.description.warnings = reader.warnings.take();
}

Description read(const xml::Tree& tree, const LoadOptions& options) {
  Reader reader{tree, options};
  read_file(reader);
  resolve_reference_inertia(reader);
  apply_flags(reader);
  return std::move(reader.description);
}

xml::Limits limits_of(const LoadOptions& options) {
  xml::Limits limits;
  limits.elements = options.most_elements;
  if (!options.other_files) limits.files = 0;
  return limits;
}

}  // namespace

// Joints are numbered in the order of the bodies that have them.
Attachable read_attachable(const std::filesystem::path& file, const LoadOptions& options) {
  const xml::Tree tree = xml::Tree::read(file, "include", limits_of(options));
  Reader reader{tree, options};
  read_file(reader);
  Attachable model;
  std::size_t index = 0;
  for (const BodyDescription& body : reader.description.bodies) {
    for (std::size_t j = 0; j < body.joints.size(); ++j, ++index) {
      const auto found = reader.spring_dampers.find(index);
      if (found != reader.spring_dampers.end()) model.spring_dampers[{body.name, j}] = found->second;
    }
  }
  model.damping_ratios.resize(reader.description.actuators.size());
  for (const auto& [actuator, ratio] : reader.damping_ratios) model.damping_ratios[actuator] = ratio;
  model.description = std::move(reader.description);
  model.field_cells = reader.field_cells;
  model.mesh_vertices = reader.mesh_vertices;
  return model;
}

std::vector<Element> Reader::section(std::string_view name) const {
  std::vector<Element> result;
  for (const Element& section : tree.children(tree.root(), name)) {
    const std::vector<Element> children = tree.children(section);
    result.insert(result.end(), children.begin(), children.end());
  }
  return result;
}

}  // namespace mjcf

Description load_mjcf(const std::filesystem::path& file, const LoadOptions& options) {
  return mjcf::read(xml::Tree::read(file, "include", mjcf::limits_of(options)), options);
}

Description parse_mjcf(std::string_view text, const std::filesystem::path& directory,
                       const LoadOptions& options) {
  return mjcf::read(xml::Tree::parse(text, options.name, directory, "include", mjcf::limits_of(options)),
                    options);
}

}  // namespace articula
