#include <fmt/format.h>

#include <cstdlib>

#include "io/mjcf/orientation.hpp"
#include "io/resources.hpp"
#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace {

double read_length(const Element& shape, const char* child, double absent) {
  double value = absent;
  read(shape, child, value);
  if (!(value > 0.0)) fail(shape, "<{}> is {}; it must be positive", child, value);
  return value;
}

void read_plane(const Element& shape, GeometryDescription& g) {
  Vector3 normal = Vector3::UnitZ();
  read(shape, "normal", normal);
  if (normal.norm() < 1e-10) fail(shape, "<normal> has no length");
  g.type = ShapeType::plane;
  g.size = {0.0, 0.0, 1.0};  // endless, as it is in Gazebo
  g.pose.rotation = (g.pose.rotation * mjcf::rotation_to(normal.normalized())).normalized();
}

// Returns why it is left out, or nothing.
std::string read_mesh(Reader& reader, const Link& link, const Element& shape, bool collides,
                      GeometryDescription& g) {
  Vector3 scale = Vector3::Ones();
  read(shape, "scale", scale);
  const Element uri = child_of(shape, "uri");
  if (!uri.node) fail(shape, "<uri> is missing; name the mesh file");
  if (child_of(shape, "submesh").node) {
    fail(shape, "<submesh> is not supported; save the part to a file of its own");
  }
  const Scope& scope = reader.scopes[static_cast<std::size_t>(link.scope)];
  std::filesystem::path file;
  try {
    file = find_resource(text_of(uri), scope.directory, reader.options);
  } catch (const Error& error) {
    if (reader.options.need_all_meshes || !collides) fail(uri, "{}", error.what());
    return fmt::format("{}: {}", uri.label(), error.what());
  }
  try {
    const Mesh& mesh = reader.meshes.use(file, scale, collides);
    g.type = ShapeType::mesh;
    g.asset = mesh.name;
    g.pose = g.pose * mesh.source;
    if (mesh.file.empty())
      reader.warn(shape, "the mesh is flat; it collides as a plate, a thousandth of its length thick");
  } catch (const Error& error) {
    fail(uri, "{}", error.what());
  }
  return "";
}

std::string read_shape(Reader& reader, const Link& link, const Element& shape, bool collides,
                       GeometryDescription& g) try {
  const std::string_view name = shape.name();
  if (name == "mesh") return read_mesh(reader, link, shape, collides, g);
  if (name == "plane") {
    read_plane(shape, g);
  } else if (name == "box") {
    Vector3 size = Vector3::Ones();
    read(shape, "size", size);
    if (!(size.minCoeff() > 0.0)) fail(shape, "<size>: all three numbers must be positive");
    g.type = ShapeType::box;
    g.size = 0.5 * size;
  } else if (name == "sphere") {
    g.type = ShapeType::sphere;
    g.size[0] = read_length(shape, "radius", 1.0);
  } else if (name == "cylinder" || name == "capsule") {
    g.type = name == "cylinder" ? ShapeType::cylinder : ShapeType::capsule;
    g.size[0] = read_length(shape, "radius", 0.5);
    g.size[1] = 0.5 * read_length(shape, "length", 1.0);
  } else if (name == "ellipsoid") {
    g.type = ShapeType::ellipsoid;
    g.size.setOnes();
    read(shape, "radii", g.size);
    if (!(g.size.minCoeff() > 0.0)) fail(shape, "<radii>: all three numbers must be positive");
  } else {
    fail(shape,
         "<{:.40}> is no shape that is read; use a box, sphere, cylinder, capsule, ellipsoid, plane or mesh",
         name);
  }
  return "";
} catch (const Error& error) {  // only what collides must be right
  if (collides) throw;
  return error.what();
}

constexpr int every_group = 0xffff;  // SDF's default: collides with everything but what has no group at all

// Bits, in any of C's notations.
int read_mask(const Element& contact) {
  const Element mask = child_of(contact, "collide_bitmask");
  if (!mask.node) return every_group;
  const std::string text = text_of(mask);
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0' || text.front() == '-' || value > every_group)
    fail(mask, "'{:.40}' is no mask of 16 bits; write 0 to 65535, or 0x0000 to 0xffff", text);
  return static_cast<int>(value);
}

// Whatever else a surface says has no meaning in hard, isotropic contact.
void warn_of_surface(Reader& reader, const Element& surface) {
  constexpr std::string_view known =
      " restitution_coefficient mu friction collide_bitmask collide_without_contact ";
  constexpr std::string_view soft = " kp kd max_vel min_depth soft_cfm soft_erp ";
  for (const Element& group : children_of(surface)) {
    for (const Element& child : children_of(group)) {
      const auto warn = [&](const Element& element) {
        const std::string name = fmt::format(" {} ", element.name());
        if (known.find(name) != std::string_view::npos) return;
        if (element.name() == "mu2" && text_of(element) == text_of(child_of(child, "mu"))) return;
        const bool softness = soft.find(name) != std::string_view::npos;
        reader.warn_once(element, fmt::format("surface/{}", element.name()),
                         softness
                             ? "contact is hard: the value has no meaning and no effect"
                             : "surfaces have one coefficient of friction and one of restitution: this has "
                               "no effect");
      };
      const std::vector<Element> values = children_of(child);
      if (values.empty()) warn(child);
      for (const Element& value : values) warn(value);
    }
  }
}

void read_surface(Reader& reader, const Element& collision, GeometryDescription& g) {
  g.contype = g.conaffinity = every_group;
  const Element surface = child_of(collision, "surface");
  if (!surface.node) return;
  warn_of_surface(reader, surface);
  const Element bounce = child_of(surface, "bounce"), friction = child_of(surface, "friction"),
                contact = child_of(surface, "contact");
  if (bounce.node) read(bounce, "restitution_coefficient", g.restitution);
  if (friction.node) {
    const Element ode = child_of(friction, "ode"), bullet = child_of(friction, "bullet");
    if (bullet.node) read(bullet, "friction", g.friction[0]);
    if (ode.node) read(ode, "mu", g.friction[0]);
  }
  if (contact.node) g.contype = g.conaffinity = read_mask(contact);
  bool without = false;
  if (contact.node && read(contact, "collide_without_contact", without) && without)
    g.contype = g.conaffinity = 0;
  if (g.restitution < 0.0 || g.friction.minCoeff() < 0.0) {
    fail(surface, "friction and restitution cannot be negative");
  }
}

void read_colour(const Element& visual, GeometryDescription& g) {
  const Element material = child_of(visual, "material");
  const Element diffuse = material.node ? child_of(material, "diffuse") : Element{};
  if (!diffuse.node) return;
  const std::vector<double> rgba = numbers_of(diffuse);
  if (rgba.size() != 3 && rgba.size() != 4) fail(diffuse, "it has {} numbers; it needs 4", rgba.size());
  for (std::size_t i = 0; i < rgba.size(); ++i) g.rgba[i] = static_cast<float>(rgba[i]);
}

void add_geometry(Reader& reader, const Link& link, const Element& element, bool collides) {
  const Element holder = child_of(element, "geometry");
  if (!holder.node) fail(element, "<geometry> is missing; add it");
  const std::vector<Element> shapes = children_of(holder);
  if (shapes.empty() || shapes.front().name() == "empty") return;
  if (!collides && shapes.front().name() == "mesh" && !reader.options.visual_meshes) return;
  GeometryDescription g;
  g.body = link.name;
  g.where = element.label();
  std::string relative_to;
  g.pose = read_pose(element, &relative_to);
  if (!relative_to.empty()) {
    const Scope& scope = reader.scopes[static_cast<std::size_t>(link.scope)];
    const Pose base = pose_of(reader, full_name(reader, element, scope, relative_to));
    g.pose = inverse(pose_of(reader, link.frame)) * base * g.pose;
  }
  const std::string why_not = read_shape(reader, link, shapes.front(), collides, g);
  if (!why_not.empty()) {
    reader.warnings.add(why_not + "; it is left out");
    return;
  }
  if (g.type == ShapeType::plane && !reader.scopes[static_cast<std::size_t>(link.scope)].is_static) {
    if (!collides) return;
    fail(shapes.front(), "a plane cannot move; make the model static, or use a box");
  }
  if (collides) {
    const std::string name = fmt::format("{}::{}", link.name, element.text("name"));
    if (reader.geometry_names.insert(name).second) g.name = name;
    read_surface(reader, element, g);
  } else {
    g.contype = g.conaffinity = 0;
    g.group = 1;
    read_colour(element, g);
  }
  reader.description.geometries.push_back(std::move(g));
}

}  // namespace

void add_geometries(Reader& reader, const Link& link) {
  for (const Element& element : children_of(link.element, "collision"))
    add_geometry(reader, link, element, true);
  for (const Element& element : children_of(link.element, "visual"))
    add_geometry(reader, link, element, false);
}

}  // namespace articula::sdf
