#include "io/resources.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

// What is wrong with a visual is worth a warning; with what collides, an error. This is what to warn of.
using Problem = std::string;

Problem left_out(const std::string& message) { return message + "; it is left out"; }

void read_positive(const Element& shape, const char* attribute, double& value, bool zero_too = false) {
  if (!Attributes(shape).read(attribute, value)) fail(shape, "attribute {} is missing; add it", attribute);
  if (value < 0.0 || (value == 0.0 && !zero_too)) {
    fail(shape, "attribute {} is {}; it must be positive", attribute, value);
  }
}

void read_box(const Element& shape, GeometryDescription& g) {
  Vector3 size = Vector3::Zero();
  if (!Attributes(shape).read("size", size)) fail(shape, "attribute size is missing; add it");
  if (size.isZero(0.0)) {  // a point of contact, like a sphere without radius
    g.type = ShapeType::sphere;
    return;
  }
  if (size.minCoeff() <= 0.0) fail(shape, "attribute size: all three numbers must be positive");
  g.type = ShapeType::box;
  g.size = 0.5 * size;
}

void read_round(const Element& shape, ShapeType type, GeometryDescription& g) {
  g.type = type;
  read_positive(shape, "radius", g.size[0], type == ShapeType::sphere);
  if (type == ShapeType::sphere) return;
  read_positive(shape, "length", g.size[1]);
  g.size[1] *= 0.5;
}

std::optional<Problem> read_mesh(Reader& reader, const Element& shape, bool collides,
                                 GeometryDescription& g) {
  const Attributes a(shape);
  Vector3 scale = Vector3::Ones();
  if (a.has("scale")) {
    const std::vector<double> given = a.list("scale");
    if (given.size() != 1 && given.size() != 3) {
      fail(shape, "attribute scale has {} numbers; it needs 3", given.size());
    }
    for (int i = 0; i < 3; ++i) scale[i] = given[given.size() == 1 ? 0 : i];
  }
  std::filesystem::path file;
  try {
    file = find_resource(a.text("filename"), reader.directory, reader.options);
  } catch (const Error& error) {
    if (reader.options.need_all_meshes || !collides) fail(shape, "{}", error.what());
    return left_out(fmt::format("{}: {}", shape.label(), error.what()));
  }
  try {
    const Mesh& mesh = reader.meshes.use(file, scale, collides);
    g.type = ShapeType::mesh;
    g.asset = mesh.name;
    g.pose = g.pose * mesh.source;
    if (mesh.file.empty())
      reader.warn(shape, "the mesh is flat; it collides as a plate, a thousandth of its length thick");
  } catch (const Error& error) {
    fail(shape, "{}", error.what());
  }
  return std::nullopt;
}

std::optional<Problem> read_shape(Reader& reader, const Element& shape, bool collides,
                                  GeometryDescription& g) try {
  const std::string_view name = shape.name();
  if (name == "mesh") return read_mesh(reader, shape, collides, g);
  if (name == "box") {
    read_box(shape, g);
  } else if (name == "sphere") {
    read_round(shape, ShapeType::sphere, g);
  } else if (name == "cylinder") {
    read_round(shape, ShapeType::cylinder, g);
  } else if (name == "capsule") {
    read_round(shape, ShapeType::capsule, g);
  } else {
    fail(shape, "<{:.40}> is no shape that is read; use a box, sphere, cylinder, capsule or mesh", name);
  }
  return std::nullopt;
} catch (const Error& error) {
  if (collides) throw;
  return left_out(error.what());
}

bool read_colour(const Element& material, std::array<float, 4>& colour) {
  const Element element = child_of(material, "color");
  std::array<double, 4> rgba{};
  if (!element.node || !Attributes(element).read("rgba", rgba, 4)) return false;
  for (std::size_t i = 0; i < 4; ++i) colour[i] = static_cast<float>(rgba[i]);
  return true;
}

void read_materials(Reader& reader) {
  if (std::exchange(reader.materials_read, true)) return;
  for (const Element& element : reader.tree.children(reader.tree.root(), "material")) {
    std::array<float, 4> colour{};
    if (read_colour(element, colour)) reader.materials.emplace(element.text("name"), colour);
  }
}

void set_colour(Reader& reader, const Element& element, GeometryDescription& g) {
  const Element material = child_of(element, "material");
  if (!material.node) return;
  const std::string name = material.text("name");
  if (read_colour(material, g.rgba)) {
    if (!name.empty()) reader.materials.emplace(name, g.rgba);
    return;
  }
  const auto known = reader.materials.find(name);
  if (known != reader.materials.end()) g.rgba = known->second;
}

// Bullet's extension.
void read_contact(const Element& contact, GeometryDescription& g) {
  if (!contact.node) return;
  const auto read = [&](const char* name, double& value) {
    const Element element = child_of(contact, name);
    if (!element.node) return;
    Attributes(element).read("value", value);
    if (value < 0.0) fail(element, "attribute value is {}; it cannot be negative", value);
  };
  read("lateral_friction", g.friction[0]);
  read("restitution", g.restitution);
}

// `contact`: the link's, for what collides; without a node where it has none.
void add_geometry(Reader& reader, const Link& link, const Element& element, bool collides,
                  const Element& contact) {
  const Element holder = child_of(element, "geometry");
  if (!holder.node) fail(element, "<geometry> is missing; add it");
  const std::vector<Element> shapes = reader.tree.children(holder);
  if (shapes.empty()) fail(holder, "there is no shape in it; use a box, sphere, cylinder, capsule or mesh");
  GeometryDescription g;
  g.body = link.body;
  g.where = element.label();
  g.pose = link.pose * read_origin(element);
  if (!collides && shapes.front().name() == "mesh" && !reader.options.visual_meshes) return;
  if (const auto problem = read_shape(reader, shapes.front(), collides, g)) {
    reader.warnings.add(*problem);
    return;
  }
  const std::string name = element.text("name");
  if (!name.empty() && reader.geometry_names.insert(name).second) g.name = name;
  set_colour(reader, element, g);
  if (collides) {
    while (g.name.empty()) {  // as Pinocchio names them
      const std::string numbered = fmt::format("{}_{}", link.name, reader.collision_count[link.name]++);
      if (reader.geometry_names.insert(numbered).second) g.name = numbered;
    }
    read_contact(contact, g);
  } else {
    g.contype = g.conaffinity = 0;
    g.group = 1;
  }
  reader.description.geometries.push_back(std::move(g));
}

}  // namespace

void add_geometries(Reader& reader, const Link& link) {
  read_materials(reader);
  const Element contact = child_of(link.element, "contact");
  for (const Element& element : reader.tree.children(link.element, "collision")) {
    add_geometry(reader, link, element, true, contact);
  }
  for (const Element& element : reader.tree.children(link.element, "visual")) {
    add_geometry(reader, link, element, false, {});
  }
}

}  // namespace articula::urdf
