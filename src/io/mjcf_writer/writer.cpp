#include "io/mjcf_writer/writer.hpp"

#include <fstream>
#include <sstream>

#include "articula/error.hpp"
#include "io/mjcf/body_inertia.hpp"

namespace articula {

namespace mjcf_writer {

void set(pugi::xml_node node, const char* name, std::span<const double> numbers) {
  NumberList list;
  for (double number : numbers) list.add(number + 0.0);  // -0 is 0
  set(node, name, list.text());
}

void set_quat(pugi::xml_node node, const char* name, const Quaternion& q) {
  const double numbers[] = {q.w(), q.x(), q.y(), q.z()};
  set(node, name, numbers);
}

void set_pose(pugi::xml_node node, const Pose& pose) {
  if (!pose.position.isZero(0.0)) set(node, "pos", pose.position);
  if (pose.rotation.coeffs() != Quaternion::Identity().coeffs()) set_quat(node, "quat", pose.rotation);
}

void set_range(pugi::xml_node node, const char* limited, const char* range,
               const std::optional<Vector2>& value) {
  if (!value) return;
  set(node, limited, "true");
  set(node, range, std::span(value->data(), 2));
}

const char* shape_name(ShapeType type) {
  switch (type) {
    case ShapeType::plane: return "plane";
    case ShapeType::sphere: return "sphere";
    case ShapeType::capsule: return "capsule";
    case ShapeType::box: return "box";
    case ShapeType::cylinder: return "cylinder";
    case ShapeType::ellipsoid: return "ellipsoid";
    case ShapeType::mesh: return "mesh";
    case ShapeType::height_field: return "hfield";
  }
  return "";
}

namespace {

void write_options(const Description& d, pugi::xml_node root) {
  pugi::xml_node compiler = root.append_child("compiler");
  set(compiler, "angle", "radian");
  set(compiler, "autolimits", "true");
  pugi::xml_node option = root.append_child("option");
  set(option, "timestep", d.timestep);
  set(option, "gravity", d.gravity);
  set(option, "magnetic", d.magnetic_flux);
  set(option, "wind", d.medium.wind);
  set(option, "density", d.medium.density);
  set(option, "viscosity", d.medium.viscosity);
  if (d.parent_child_contacts) set(option.append_child("flag"), "filterparent", "disable");
}

// What is kept in <custom> is found again by name.
Description with_names(Description d) {
  for (std::size_t i = 0; i < d.geometries.size(); ++i) {
    GeometryDescription& g = d.geometries[i];
    if (g.restitution != 0.0 && g.name.empty()) g.name = fmt::format("geometry#{}", i);
  }
  return d;
}

std::string write(Writer& writer) {
  for (const std::size_t i : mjcf::bodies_without_mass(writer.description.bodies))
    writer.light_bodies.insert(writer.description.bodies[i].name);
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("mujoco");
  set(root, "model", writer.description.name);
  write_options(writer.description, root);
  write_custom(writer, root);
  write_assets(writer, root);
  write_tree(writer, root);
  write_constraints(writer, root);
  write_tendons(writer, root);
  write_actuators(writer, root);
  write_sensors(writer, root);
  write_keyframes(writer, root);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return text.str();
}

void save(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary);
  if (stream) stream << bytes << std::flush;
  if (!stream) {
    throw Error("{}: the file cannot be written; check the directory and its permissions", file.string());
  }
}

}  // namespace

}  // namespace mjcf_writer

std::string to_mjcf(const Description& given, const std::filesystem::path& directory) {
  const Description description = mjcf_writer::with_names(given);
  mjcf_writer::Writer writer{description, directory};
  return mjcf_writer::write(writer);
}

void save_mjcf(const Description& given, const std::filesystem::path& file) {
  const Description description = mjcf_writer::with_names(given);
  mjcf_writer::Writer writer{description, file.parent_path()};
  writer.file_prefix = file.stem().string() + "_mesh";
  mjcf_writer::save(file, mjcf_writer::write(writer));
  for (const auto& [name, bytes] : writer.files) mjcf_writer::save(file.parent_path() / name, bytes);
}

}  // namespace articula
