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

// Geometries that pairs and sensors name must stay, even where nothing else would touch them.
void note_used_geometries(Reader& reader) {
  for (const char* section : {"contact", "sensor"}) {
    for (const Element& element : reader.section(section)) {
      for (const char* attribute : {"geom1", "geom2", "geom", "objname"}) {
        if (element.attribute(attribute) != nullptr)
          reader.used_geometry_names.insert(element.text(attribute));
      }
    }
  }
}

Description read(const xml::Tree& tree, const LoadOptions& options) {
  const Element root = tree.root();
  if (root.name() != "mujoco") {
    fail(root, "the outermost element of an MJCF file is <mujoco>{}",
         root.name() == "mujocoinclude" ? "; this file is meant to be included by another" : "");
  }
  Reader reader{tree, options};
  reader.description.name = root.attribute("model") ? root.text("model") : "MuJoCo Model";
  check_schema(reader);
  read_compiler(reader);
  read_options(reader);
  read_defaults(reader);
  read_assets(reader);
  note_used_geometries(reader);
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
  resolve_reference_inertia(reader);
  apply_flags(reader);
  reader.description.warnings = reader.warnings.take();
  return std::move(reader.description);
}

}  // namespace

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
  xml::Limits limits;
  limits.elements = options.most_elements;
  return mjcf::read(xml::Tree::read(file, "include", limits), options);
}

Description parse_mjcf(std::string_view text, const std::filesystem::path& directory,
                       const LoadOptions& options) {
  xml::Limits limits;
  limits.elements = options.most_elements;
  if (!options.other_files) limits.files = 0;
  return mjcf::read(xml::Tree::parse(text, options.name, directory, "include", limits), options);
}

}  // namespace articula
