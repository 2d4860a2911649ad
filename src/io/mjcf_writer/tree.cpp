#include <algorithm>

#include "io/mjcf/inertia.hpp"
#include "io/mjcf_writer/writer.hpp"

namespace articula::mjcf_writer {

namespace {

// Moments along the axes that are kept; where none are, along principal ones.
struct Principal {
  Vector3 moments;
  Quaternion axes;
};

Principal principal_of(const InertiaDescription& inertia) {
  if (!inertia.principal_axes) {
    const mjcf::PrincipalInertia found = mjcf::principal(inertia.inertia);
    return {found.moments, found.axes};
  }
  const Matrix3 R = inertia.principal_axes->toRotationMatrix();
  return {(R.transpose() * inertia.inertia * R).diagonal(), *inertia.principal_axes};
}

// The nearest moments that some body has: none negative, none above the sum of the others.
Vector3 made_real(Vector3 moments) {
  moments = moments.cwiseMax(0.0);
  for (int i = 0; i < 3; ++i) {
    const double others = moments.sum() - moments[i];
    if (moments[i] <= others) continue;
    const double missing = moments[i] - others;
    moments[(i + 1) % 3] += missing / 3.0;
    moments[(i + 2) % 3] += missing / 3.0;
    moments[i] = moments[(i + 1) % 3] + moments[(i + 2) % 3];
  }
  return moments;
}

// Rounding may leave the moments of a flat body a little below zero, or one above the sum of the others.
void write_inertial(const InertiaDescription& inertia, bool light, pugi::xml_node node) {
  constexpr double least = 1e-14;  // ten times what MuJoCo asks of a body that moves
  const Principal principal = principal_of(inertia);
  const Vector3 moments = made_real(principal.moments);
  set(node, "pos", inertia.com);
  set_quat(node, "quat", principal.axes);
  set(node, "mass", light ? std::max(inertia.mass, least) : inertia.mass);
  set(node, "diaginertia", light ? Vector3(moments.cwiseMax(least)) : moments);
}

const char* joint_name(JointType type) {
  switch (type) {
    case JointType::hinge: return "hinge";
    case JointType::slide: return "slide";
    case JointType::ball: return "ball";
    case JointType::free: return "free";
    case JointType::fixed: break;
  }
  return "";
}

void write_joint(const JointDescription& joint, pugi::xml_node node) {
  set_name(node, joint.name);
  set(node, "type", joint_name(joint.type));
  if (joint.type == JointType::hinge || joint.type == JointType::slide) {
    set(node, "axis", joint.axis);
    set_unless(node, "ref", joint.reference, 0.0);
    set_unless(node, "springref", joint.spring_reference, 0.0);
  }
  if (joint.type != JointType::free && !joint.position.isZero(0.0)) set(node, "pos", joint.position);
  set_unless(node, "stiffness", joint.stiffness, 0.0);
  set_unless(node, "damping", joint.damping, 0.0);
  set_unless(node, "armature", joint.armature, 0.0);
  set_unless(node, "frictionloss", joint.dry_friction, 0.0);
  set_unless(node, "margin", joint.limit_margin, 0.0);
  set_range(node, "limited", "range", joint.range);
  set_range(node, "actuatorfrclimited", "actuatorfrcrange", joint.actuator_force_range);
  if (joint.actuator_carries_gravity) set(node, "actuatorgravcomp", "true");
}

// MuJoCo wants every radius positive; ours takes one as small as this for a point.
constexpr double point_radius = 1e-15;

void write_sizes(const GeometryDescription& g, pugi::xml_node node) {
  std::size_t count = 3;
  Vector3 size = g.size;
  switch (g.type) {
    case ShapeType::sphere:
      count = 1;
      size[0] = std::max(size[0], point_radius);
      break;
    case ShapeType::capsule:
    case ShapeType::cylinder: count = 2; break;
    case ShapeType::mesh:
    case ShapeType::height_field: return;
    case ShapeType::plane:
    case ShapeType::box:
    case ShapeType::ellipsoid: break;
  }
  while (count < 3 && size[static_cast<int>(count)] != 0.0) ++count;  // numbers that mean nothing stay, too
  set(node, "size", std::span(size.data(), count));
}

void write_geometry(const Writer& writer, const GeometryDescription& g, pugi::xml_node node) {
  set_name(node, g.name);
  set(node, "type", shape_name(g.type));
  write_sizes(g, node);
  Pose pose = g.pose;
  if (g.type == ShapeType::mesh) {
    set(node, "mesh", g.asset);
    const auto mesh = writer.meshes.find(g.asset);
    if (mesh != writer.meshes.end()) pose = pose * inverse(mesh->second->source);
  }
  if (g.type == ShapeType::height_field) set(node, "hfield", g.asset);
  set_pose(node, pose);
  set_unless(node, "contype", g.contype, 1);
  set_unless(node, "conaffinity", g.conaffinity, 1);
  set_unless(node, "condim", g.condim, 3);
  set_unless(node, "priority", g.priority, 0);
  set_unless(node, "group", g.group, 0);
  if (g.friction != GeometryDescription{}.friction) set(node, "friction", g.friction);
  set_unless(node, "margin", g.margin, 0.0);
  set_unless(node, "gap", g.gap, 0.0);
  if (g.rgba != GeometryDescription{}.rgba) {
    set(node, "rgba", fmt::format("{} {} {} {}", g.rgba[0], g.rgba[1], g.rgba[2], g.rgba[3]));
  }
  if (g.mass > 0.0) set(node, "mass", g.mass);
}

void write_frame(const FrameDescription& frame, pugi::xml_node node) {
  set_name(node, frame.name);
  // A site only looks like a mesh, and that mesh may not be there.
  const ShapeType type = frame.type == ShapeType::mesh ? ShapeType::sphere : frame.type;
  set_unless(node, "type", std::string(shape_name(type)), std::string("sphere"));
  if (frame.size != FrameDescription{}.size) set(node, "size", frame.size);
  set_pose(node, frame.pose);
}

void write_body(const BodyDescription& body, bool light, pugi::xml_node node) {
  set_name(node, body.name);
  set_pose(node, body.pose);
  if (body.kinematic) set(node, "mocap", "true");
  set_unless(node, "gravcomp", body.gravity_compensation, 0.0);
  write_inertial(body.inertia, light, node.append_child("inertial"));
  for (const JointDescription& joint : body.joints) {
    if (joint.type != JointType::fixed) write_joint(joint, node.append_child("joint"));
  }
}

// What stands on a body, in the order of the description.
struct OnBody {
  std::vector<const GeometryDescription*> geometries;
  std::vector<const FrameDescription*> frames;
  std::vector<const BodyDescription*> children;
};

}  // namespace

void write_tree(const Writer& writer, pugi::xml_node root) {
  const Description& d = writer.description;
  std::unordered_map<std::string, OnBody> on_body;
  for (const auto& g : d.geometries) on_body[g.body].geometries.push_back(&g);
  for (const auto& f : d.frames) on_body[f.body].frames.push_back(&f);
  for (const auto& b : d.bodies) on_body[b.parent].children.push_back(&b);

  struct Pending {
    const BodyDescription* body;
    pugi::xml_node parent;
  };
  std::vector<Pending> pending;
  const auto open = [&](const std::string& name, pugi::xml_node node) {
    const OnBody& things = on_body[name];
    for (const auto* g : things.geometries) write_geometry(writer, *g, node.append_child("geom"));
    for (const auto* f : things.frames) write_frame(*f, node.append_child("site"));
    for (auto child = things.children.rbegin(); child != things.children.rend(); ++child) {
      pending.push_back({*child, node});
    }
  };
  open("world", root.append_child("worldbody"));
  while (!pending.empty()) {
    Pending next = pending.back();
    pending.pop_back();
    pugi::xml_node node = next.parent.append_child("body");
    write_body(*next.body, writer.light_bodies.contains(next.body->name), node);
    open(next.body->name, node);
  }
}

void write_custom(const Writer& writer, pugi::xml_node root) {
  pugi::xml_node custom;
  const auto add = [&](const std::string& name, std::span<const double> numbers) {
    if (!custom) custom = root.append_child("custom");
    pugi::xml_node node = custom.append_child("numeric");
    set(node, "name", "articula/" + name);
    set(node, "data", numbers);
  };
  for (const BodyDescription& body : writer.description.bodies) {
    const Matrix3& I = body.inertia.inertia;
    const double full[] = {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), body.inertia.mass};
    if (body.inertia.as_given) add("inertia/" + body.name, std::span(full, 6));
    if (writer.light_bodies.contains(body.name)) add("light/" + body.name, full);
  }
  for (const GeometryDescription& g : writer.description.geometries) {
    if (g.restitution != 0.0) add("restitution/" + g.name, std::span(&g.restitution, 1));
  }
}

}  // namespace articula::mjcf_writer
