#include "io/mjcf/geometry.hpp"

#include <cmath>

#include "io/mjcf/assets.hpp"
#include "io/mjcf/orientation.hpp"

namespace articula::mjcf {

namespace {

constexpr double smallest = 1e-14;

ShapeType read_type(const Attributes& a) {
  ShapeType type = ShapeType::sphere;
  if (a.text("type") == "sdf")
    fail(a.element(), "type=\"sdf\" needs a plugin and is not supported; use a mesh");
  a.read_keyword<ShapeType>("type",
                            {{"plane", ShapeType::plane},
                             {"hfield", ShapeType::height_field},
                             {"sphere", ShapeType::sphere},
                             {"capsule", ShapeType::capsule},
                             {"ellipsoid", ShapeType::ellipsoid},
                             {"cylinder", ShapeType::cylinder},
                             {"box", ShapeType::box},
                             {"mesh", ShapeType::mesh}},
                            type);
  return type;
}

// fromto: the z axis runs from the second point to the first, the origin is in the middle. Size keeps
// its first number (radius or half width) and gets the half length.
void apply_fromto(Reader& reader, const Attributes& a, ShapeType type, Vector3& size, Pose& pose) {
  std::array<double, 6> ends{};
  if (!a.read("fromto", ends, 6)) return;
  if (!pose.position.isZero(0.0)) fail(a.element(), "both pos and fromto are given; keep one of them");
  for (const char* form : rotation_forms) {
    if (a.element().attribute(form) != nullptr)
      reader.warn(a.element(), fmt::format("fromto gives the direction; attribute {} has no effect", form));
  }
  const bool square = type == ShapeType::box || type == ShapeType::ellipsoid;
  if (!square && type != ShapeType::capsule && type != ShapeType::cylinder) {
    fail(a.element(), "attribute fromto needs a capsule, cylinder, box or ellipsoid");
  }
  const Vector3 from(ends[0], ends[1], ends[2]), to(ends[3], ends[4], ends[5]);
  const double length = (from - to).norm();
  if (length / 2.0 < smallest) fail(a.element(), "attribute fromto: the two points are the same");
  if (square)
    size = {size[0], size[0], length / 2.0};
  else
    size[1] = length / 2.0;
  pose = {(from + to) / 2.0, rotation_to((from - to) / length)};
}

// How many sizes a type needs, and what they are called.
std::pair<int, const char*> needed_sizes(ShapeType type) {
  switch (type) {
    case ShapeType::sphere: return {1, "radius"};
    case ShapeType::capsule:
    case ShapeType::cylinder: return {2, "radius and half length (or radius and fromto)"};
    case ShapeType::ellipsoid: return {3, "three radii"};
    case ShapeType::box: return {3, "three half sizes"};
    case ShapeType::plane:
    case ShapeType::mesh:
    case ShapeType::height_field: break;
  }
  return {0, ""};
}

void require_sizes(Reader& reader, const Attributes& a, ShapeType type, const Vector3& size) {
  const auto [count, names] = needed_sizes(type);
  for (int i = 0; i < count; ++i) {
    if (size[i] > 0.0) continue;
    fail(a.element(), "attribute size is '{:.60}'; a {} needs {}, all positive", a.text("size"),
         a.has("type") ? a.text("type") : "sphere", names);
  }
  if (type == ShapeType::plane && (size[0] < 0.0 || size[1] < 0.0)) {
    fail(a.element(), "attribute size: the half sizes of a plane cannot be negative (0 is endless)");
  }
  if (type == ShapeType::plane && size[2] <= 0.0) {
    reader.warn(a.element(),
                "MuJoCo refuses planes whose third size, the spacing of lines drawn, is not positive");
  }
}

// The smallest shape of the type whose bounding box contains that of the mesh.
Vector3 fit_bounds(ShapeType type, const Vector3& half) {
  const double radius = std::max(half[0], half[1]);
  switch (type) {
    case ShapeType::sphere: return {half.maxCoeff(), 0.0, 0.0};
    case ShapeType::capsule: return {radius, std::max(0.0, half[2] - radius), 0.0};
    case ShapeType::cylinder: return {radius, half[2], 0.0};
    default: return half;
  }
}

// The shape of the type with the inertia of the mesh, more or less: MuJoCo's rule.
Vector3 fit_inertia(ShapeType type, const Vector3& box) {
  const double radius = (box[0] + box[1]) / 2.0;
  switch (type) {
    case ShapeType::sphere: return {box.mean(), 0.0, 0.0};
    case ShapeType::capsule: return {radius, std::max(0.0, box[2] - radius / 2.0), 0.0};
    case ShapeType::cylinder: return {radius, box[2], 0.0};
    default: return box;
  }
}

void fit_to_mesh(const Reader& reader, const Attributes& a, const MeshAsset& asset, GeometryDescription& g) {
  double scale = 1.0;
  a.read("fitscale", scale);
  Vector3 centre = Vector3::Zero();
  if (reader.compiler.fit_bounding_box) {
    centre = (asset.measures.lower + asset.measures.upper) / 2.0;
    g.size = scale * fit_bounds(g.type, (asset.measures.upper - asset.measures.lower) / 2.0);
  } else {
    g.size = scale * fit_inertia(g.type, asset.measures.half_box);
  }
  g.pose = g.pose * asset.mesh->source;
  g.pose.position += g.pose.rotation * centre;
}

void read_colour(Reader& reader, const Attributes& a, std::array<float, 4>& colour) {
  std::array<double, 4> given{};
  const auto material = reader.materials.find(a.text("material"));
  if (a.read("rgba", given, 4)) {
    for (std::size_t i = 0; i < 4; ++i) colour[i] = static_cast<float>(given[i]);
  } else if (material != reader.materials.end()) {
    colour = material->second;
  } else if (a.has("material") && material == reader.materials.end()) {
    reader.warn(a.element(), fmt::format("there is no material '{:.100}'", a.text("material")));
  }
}

void read_contact(const Attributes& a, GeometryDescription& g) {
  a.read("contype", g.contype);
  a.read("conaffinity", g.conaffinity);
  a.read("condim", g.condim);
  a.read("priority", g.priority);
  a.read("group", g.group);
  a.read("friction", std::span(g.friction.data(), 3), 1);
  a.read("margin", g.margin);
  a.read("gap", g.gap);
  if (g.condim != 1 && g.condim != 3 && g.condim != 4 && g.condim != 6) {
    fail(a.element(), "attribute condim is {}; it must be 1, 3, 4 or 6", g.condim);
  }
  if (g.friction.minCoeff() < 0.0) fail(a.element(), "attribute friction cannot be negative");
  double adhesion = 0.0;
  std::array<double, 6> surface{};
  a.read("adhesion", adhesion);
  a.read("surfacevel", surface, 1);
  if (adhesion != 0.0) fail(a.element(), "attribute adhesion is not supported; leave it out or set it to 0");
  if (surface != std::array<double, 6>{}) {
    fail(a.element(), "attribute surfacevel is not supported; move the body, or set it to zeros");
  }
}

void weigh(const Attributes& a, const MeshAsset* mesh, GeometryDraft& draft) {
  const GeometryDescription& g = draft.description;
  double density = 1000.0, mass = 0.0;
  bool shell = false;
  a.read("shellinertia", shell);
  a.read("density", density);
  ShapeMass shape = shape_mass(g.type, g.size, shell);
  if (g.type == ShapeType::mesh) {
    const Vector3 q = mesh->measures.half_box.cwiseAbs2();
    shape = {mesh->measures.volume, Vector3(q[1] + q[2], q[0] + q[2], q[0] + q[1]) / 3.0};
  }
  if (g.type == ShapeType::height_field) shape = {};
  if (a.read("mass", mass)) {
    draft.mass = shape.volume > smallest ? mass : 0.0;
  } else {
    draft.mass = density * shape.volume;
  }
  if (draft.mass < 0.0) fail(a.element(), "its mass is {}; mass and density cannot be negative", draft.mass);
  if (draft.mass > 0.0 && mesh != nullptr && mesh->measures.flat) {
    fail(a.element(),
         "mesh '{}' has no volume, so the body's inertia cannot be taken from it; set "
         "inertia=\"shell\" at the mesh, mass=\"0\" here, or give the body an <inertial>",
         mesh->mesh->name);
  }
  draft.moments = draft.mass * shape.moments;
}

}  // namespace

GeometryDraft read_geometry(Reader& reader, const Attributes& a, bool weighed) {
  GeometryDraft draft;
  GeometryDescription& g = draft.description;
  g.name = a.element().text("name");
  g.where = a.element().label();
  g.type = read_type(a);
  g.pose = read_pose(a, reader.compiler);
  a.read("size", std::span(g.size.data(), 3), 1);
  read_contact(a, g);
  read_colour(reader, a, g.rgba);
  apply_fromto(reader, a, g.type, g.size, g.pose);
  const Medium& medium = reader.description.medium;
  bool ellipsoid = false;
  a.read_keyword<bool>("fluidshape", {{"none", false}, {"ellipsoid", true}}, ellipsoid);
  if (ellipsoid && (medium.density != 0.0 || medium.viscosity != 0.0)) {
    fail(a.element(), "fluidshape=\"ellipsoid\" is not supported; drag acts on inertia boxes (leave it out)");
  }
  const bool collides = g.contype != 0 || g.conaffinity != 0 || reader.paired_geometry_names.contains(g.name);
  const bool drawn = !collides && !reader.sensed_names.contains(g.name);
  draft.dropped = drawn && reader.compiler.discard_visual;

  MeshAsset* mesh = nullptr;
  const std::string mesh_name = a.text("mesh");
  if (g.type == ShapeType::mesh && mesh_name.empty())
    fail(a.element(), "attribute mesh is missing; name a mesh of <asset>");
  if (!mesh_name.empty() && g.type != ShapeType::plane && g.type != ShapeType::height_field) {
    if (drawn && !weighed && !reader.options.visual_meshes && g.type == ShapeType::mesh) draft.dropped = true;
    if (draft.dropped && !weighed) return draft;
    if (a.has("fromto")) fail(a.element(), "attribute fromto cannot be used with a mesh");
    mesh = &use_mesh(reader, a.element(), mesh_name);
    if (g.type == ShapeType::mesh) {
      g.asset = mesh_name;
      g.pose = g.pose * mesh->mesh->source;
      g.size.setZero();
      mesh->collides |= collides;
      mesh->kept |= !draft.dropped;
    } else {
      fit_to_mesh(reader, a, *mesh, g);
    }
  }
  if (g.type == ShapeType::height_field) {
    g.asset = a.required("hfield");
    use_height_field(reader, a.element(), g.asset);
    g.size.setZero();
  }
  require_sizes(reader, a, g.type, g.size);
  // A radius as small as this is how our own writer puts a point, which MuJoCo does not have.
  constexpr double point_radius = 1e-15;
  if (g.type == ShapeType::sphere && g.size[0] <= point_radius) g.size[0] = 0.0;
  if (weighed) weigh(a, mesh, draft);
  g.mass = draft.mass;
  if (!weighed) a.read("mass", g.mass);
  return draft;
}

FrameDescription read_site(Reader& reader, const Attributes& a) {
  FrameDescription site;
  site.name = a.element().text("name");
  site.where = a.element().label();
  site.type = read_type(a);
  site.pose = read_pose(a, reader.compiler);
  a.read("size", std::span(site.size.data(), 3), 1);
  apply_fromto(reader, a, site.type, site.size, site.pose);
  if (site.type == ShapeType::plane || site.type == ShapeType::height_field) {
    fail(a.element(), "a site cannot be a plane or a height field");
  }
  require_sizes(reader, a, site.type, site.size);
  return site;
}

std::optional<Vector2> range_in_force(const Reader& reader, const Attributes& a, const char* range_name,
                                      const Vector2& range, const char* limited_name, Switch limited) {
  if (limited == Switch::no) return std::nullopt;
  const bool given = range[0] != 0.0 || range[1] != 0.0;
  if (limited == Switch::automatic) {
    if (given && !reader.compiler.automatic_limits) {
      fail(a.element(),
           "{} is given, but not {}; say {}=\"true\" or \"false\", or set autolimits of <compiler>",
           range_name, limited_name, limited_name);
    }
    if (!given || range[0] >= range[1]) return std::nullopt;
  }
  if (range[0] >= range[1]) {
    fail(a.element(), "{} is {} to {}, but {} asks for it; the first number must be smaller", range_name,
         range[0], range[1], limited_name);
  }
  if (std::isinf(range[0]) && std::isinf(range[1])) return std::nullopt;
  constexpr double out_of_reach = 1e10;  // an open end
  return Vector2(range.cwiseMax(-out_of_reach).cwiseMin(out_of_reach));
}

}  // namespace articula::mjcf
