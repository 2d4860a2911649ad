#include "validation.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <cmath>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "articula/error.hpp"
#include "articula/model/names.hpp"

namespace articula {

namespace {

std::string at(const std::string& where) { return where.empty() ? "" : where + ": "; }

// The element as it was written; its kind and name where that does not say them (a replica, a description
// made by a program).
std::string label(const char* kind, const std::string& name, const std::string& where) {
  if (!where.empty() && (name.empty() || where.find('"' + name + '"') != where.npos)) return where;
  if (name.empty()) return fmt::format("{} without a name", kind);
  return fmt::format("{}{} '{:.100}'", at(where), kind, name);
}

template <class Element>
std::string label(const char* kind, const Element& element) {
  return label(kind, element.name, element.where);
}

void require_finite(std::span<const double> numbers, const std::string& element, const char* what) {
  for (double number : numbers) {
    if (!std::isfinite(number)) {
      throw Error(fmt::format("{}: {} is not a finite number ({})", element, what, number));
    }
  }
}

void require_finite(double number, const std::string& element, const char* what) {
  require_finite(std::span(&number, 1), element, what);
}

template <class Derived>
void require_finite(const Eigen::PlainObjectBase<Derived>& numbers, const std::string& element,
                    const char* what) {
  require_finite(std::span(numbers.data(), static_cast<size_t>(numbers.size())), element, what);
}

void require_not_negative(double number, const std::string& element, const char* what) {
  require_finite(number, element, what);
  if (number < 0.0) {
    throw Error(fmt::format("{}: {} is negative ({})", element, what, number));
  }
}

void require_pose(const Pose& pose, const std::string& element) {
  require_finite(pose.position, element, "position");
  require_finite(pose.rotation.coeffs(), element, "rotation");
  if (pose.rotation.norm() < 1e-12) {
    throw Error(fmt::format("{}: the rotation is a zero quaternion", element));
  }
}

void require_range(const std::optional<Vector2>& range, const std::string& element, const char* what) {
  if (!range) return;
  require_finite(*range, element, what);
  if ((*range)[0] > (*range)[1]) {
    throw Error(fmt::format("{}: {} is empty ({} > {})", element, what, (*range)[0], (*range)[1]));
  }
}

// The names of one kind of element: unique, and known to those who refer to them.
class Names {
 public:
  explicit Names(const char* kind) : kind_(kind) {}

  void add(const std::string& name, const std::string& where) {
    if (name.empty()) return;
    if (!known_.insert(name).second) {
      throw Error(
          fmt::format("{}: another {} has that name; rename one of them", label(kind_, name, where), kind_));
    }
    order_.push_back(name);
  }

  void require(const std::string& name, const std::string& element, const char* role) const {
    if (known_.contains(name)) return;
    throw Error(fmt::format("{}: {} '{:.100}' is no {} of the model{}", element, role, name, kind_,
                            suggestion(name, order_)));
  }

 private:
  const char* kind_;
  std::unordered_set<std::string> known_;
  std::vector<std::string> order_;
};

struct AllNames {
  Names body{"body"}, joint{"joint"}, frame{"frame (site)"}, geometry{"geometry"}, mesh{"mesh"},
      height_field{"height field"}, tendon{"tendon"}, actuator{"actuator"}, sensor{"sensor"},
      equality{"equality"}, pair{"contact pair"}, keyframe{"keyframe"};

  explicit AllNames(const Description& d) {
    body.add("world", "");
    for (const auto& b : d.bodies) {
      body.add(b.name, b.where);
      for (const auto& j : b.joints) joint.add(j.name, j.where.empty() ? b.where : j.where);
    }
    for (const auto& e : d.frames) frame.add(e.name, e.where);
    for (const auto& e : d.geometries) geometry.add(e.name, e.where);
    for (const auto& e : d.meshes) mesh.add(e->name, e->file);
    for (const auto& e : d.height_fields) height_field.add(e->name, e->file);
    for (const auto& e : d.tendons) tendon.add(e.name, e.where);
    for (const auto& e : d.actuators) actuator.add(e.name, e.where);
    for (const auto& e : d.sensors) sensor.add(e.name, e.where);
    for (const auto& e : d.equalities) equality.add(e.name, e.where);
    for (const auto& e : d.contact_pairs) pair.add(e.name, e.where);
    for (const auto& e : d.keyframes) keyframe.add(e.name, e.where);
  }
};

void validate_joint(const JointDescription& joint, const BodyDescription& body) {
  const std::string element =
      joint.where.empty() ? label("body", body) + ", joint '" + joint.name + "'" : label("joint", joint);
  require_finite(joint.axis, element, "axis");
  require_finite(joint.position, element, "position");
  const bool has_axis = joint.type == JointType::hinge || joint.type == JointType::slide;
  if (has_axis && joint.axis.norm() < 1e-10) {
    throw Error(fmt::format("{}: the axis is zero", element));
  }
  require_finite(joint.reference, element, "reference");
  require_finite(joint.spring_reference, element, "spring reference");
  require_not_negative(joint.stiffness, element, "stiffness");
  require_not_negative(joint.damping, element, "damping");
  require_not_negative(joint.armature, element, "armature");
  require_not_negative(joint.dry_friction, element, "dry friction");
  require_not_negative(joint.limit_margin, element, "limit margin");
  require_range(joint.range, element, "range");
  require_range(joint.actuator_force_range, element, "actuator force range");
  if (joint.actuator_force_range && !has_axis) {
    throw Error(fmt::format("{}: only a hinge or slide can have an actuator force range", element));
  }
  if (joint.type == JointType::free && (body.parent != "world" || body.joints.size() > 1)) {
    throw Error(
        fmt::format("{}: a free joint must be the only joint of a child of the world "
                    "(parent is '{}', {} joints)",
                    element, body.parent, body.joints.size()));
  }
}

void validate_bodies(const Description& d, const AllNames& names) {
  for (const BodyDescription& body : d.bodies) {
    const std::string element = label("body", body);
    if (body.name == "world") throw Error(fmt::format("{}: the name 'world' is taken", element));
    names.body.require(body.parent, element, "parent");
    require_pose(body.pose, element);
    require_not_negative(body.inertia.mass, element, "mass");
    require_finite(body.inertia.com, element, "centre of mass");
    require_finite(body.inertia.inertia, element, "inertia");
    if (!body.inertia.as_given) require_real_inertia(body.inertia.mass, body.inertia.inertia, element);
    require_finite(body.gravity_compensation, element, "gravity compensation");
    if (body.kinematic && (!body.joints.empty() || body.parent != "world")) {
      throw Error(fmt::format("{}: a kinematic body must be a child of the world without joints", element));
    }
    for (const JointDescription& joint : body.joints) validate_joint(joint, body);
  }
}

void validate_height_field(const HeightField& f) {
  const std::string element = fmt::format("height field '{}'", f.name);
  if (f.rows < 2 || f.columns < 2)
    throw Error("{}: {} rows and {} columns; it needs at least two of each", element, f.rows, f.columns);
  if (f.elevation.size() != static_cast<std::size_t>(f.rows) * static_cast<std::size_t>(f.columns))
    throw Error("{}: {} elevations for {} by {} corners", element, f.elevation.size(), f.rows, f.columns);
  require_finite(f.elevation, element, "elevation");
  for (const double e : f.elevation)
    if (e < 0 || e > 1) throw Error("{}: an elevation is {}; they are from 0 to 1", element, e);
  require_finite(f.size, element, "size");
  if (!(f.size[0] > 0 && f.size[1] > 0))
    throw Error("{}: half widths of {} and {}; they must be positive", element, f.size[0], f.size[1]);
  require_not_negative(f.size[2], element, "height");
  require_not_negative(f.size[3], element, "base thickness");
}

void validate_geometry(const Description& d, const AllNames& names) {
  for (const auto& field : d.height_fields) validate_height_field(*field);
  for (const FrameDescription& frame : d.frames) {
    const std::string element = label("frame", frame);
    names.body.require(frame.body, element, "body");
    require_pose(frame.pose, element);
  }
  for (const GeometryDescription& g : d.geometries) {
    const std::string element = label("geometry", g);
    names.body.require(g.body, element, "body");
    require_pose(g.pose, element);
    for (int i = 0; i < 3; ++i) {
      require_not_negative(g.size[i], element, "size");
      require_not_negative(g.friction[i], element, "friction");
    }
    require_not_negative(g.restitution, element, "restitution");
    require_finite(g.margin, element, "margin");
    require_finite(g.gap, element, "gap");
    if (g.type == ShapeType::mesh) names.mesh.require(g.asset, element, "mesh");
    if (g.type == ShapeType::height_field) names.height_field.require(g.asset, element, "height field");
  }
  for (const ContactPairDescription& pair : d.contact_pairs) {
    const std::string element = label("contact pair", pair);
    names.geometry.require(pair.geometry1, element, "geometry");
    names.geometry.require(pair.geometry2, element, "geometry");
    require_finite(pair.friction, element, "friction");
  }
  for (const ContactExclusion& exclusion : d.contact_exclusions) {
    const std::string element = at(exclusion.where) + "contact exclusion";
    names.body.require(exclusion.body1, element, "body");
    names.body.require(exclusion.body2, element, "body");
  }
}

// Joints by name, for those who may only refer to some types.
std::unordered_map<std::string, const JointDescription*> joints_by_name(const Description& d) {
  std::unordered_map<std::string, const JointDescription*> joints;
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) joints.emplace(joint.name, &joint);
  }
  return joints;
}

bool is_scalar(const JointDescription& joint) {
  return joint.type == JointType::hinge || joint.type == JointType::slide;
}

void validate_actuators(const Description& d, const AllNames& names) {
  const auto joints = joints_by_name(d);
  for (const TendonDescription& tendon : d.tendons) {
    const std::string element = label("tendon", tendon);
    if (tendon.terms.empty()) throw Error(fmt::format("{}: it has no joints", element));
    for (const TendonDescription::Term& term : tendon.terms) {
      names.joint.require(term.joint, element, "joint");
      if (!is_scalar(*joints.at(term.joint))) {
        throw Error(fmt::format("{}: joint '{}' is no hinge or slide; a tendon needs joints with one number",
                                element, term.joint));
      }
      require_finite(term.coefficient, element, "coefficient");
    }
    require_not_negative(tendon.stiffness, element, "stiffness");
    require_not_negative(tendon.damping, element, "damping");
    require_not_negative(tendon.armature, element, "armature");
    require_not_negative(tendon.dry_friction, element, "dry friction");
    require_range(tendon.range, element, "range");
    require_range(tendon.spring_length, element, "spring length");
    require_range(tendon.actuator_force_range, element, "actuator force range");
  }
  for (const ActuatorDescription& a : d.actuators) {
    const std::string element = label("actuator", a);
    switch (a.transmission) {
      case TransmissionType::joint:
      case TransmissionType::joint_in_parent: names.joint.require(a.target, element, "joint"); break;
      case TransmissionType::frame: names.frame.require(a.target, element, "frame"); break;
      case TransmissionType::tendon: names.tendon.require(a.target, element, "tendon"); break;
    }
    if (!a.reference_frame.empty()) names.frame.require(a.reference_frame, element, "frame");
    require_finite(a.gear, element, "gear");
    require_finite(a.gain, element, "gain");
    require_finite(a.bias, element, "bias");
    require_range(a.control_range, element, "control range");
    require_range(a.force_range, element, "force range");
    require_range(a.activation_range, element, "activation range");
    require_not_negative(a.armature, element, "armature");
    require_not_negative(a.damping, element, "damping");
    require_not_negative(a.time_constant, element, "time constant");
    if (a.transmission == TransmissionType::frame && (a.armature != 0.0 || a.damping != 0.0)) {
      throw Error(
          fmt::format("{}: only an actuator on a joint or tendon can add armature or damping", element));
    }
  }
}

// Joints with other than one coordinate.
std::set<std::string_view> ball_and_free_joints(const Description& d) {
  std::set<std::string_view> found;
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) {
      if (joint.type != JointType::hinge && joint.type != JointType::slide) found.insert(joint.name);
    }
  }
  return found;
}

void validate_equalities(const Description& d, const AllNames& names) {
  const std::set<std::string_view> uncoupled = ball_and_free_joints(d);
  for (const EqualityDescription& e : d.equalities) {
    const std::string element = label("equality", e);
    const bool bodies = e.type == EqualityType::connect || e.type == EqualityType::weld;
    const Names& known = bodies ? names.body : e.type == EqualityType::joint ? names.joint : names.tendon;
    known.require(e.first, element, "first side");
    if (bodies || !e.second.empty()) known.require(e.second, element, "second side");
    if (e.first == e.second) throw Error(fmt::format("{}: both sides are '{}'", element, e.first));
    for (const std::string* joint : {&e.first, &e.second}) {
      if (e.type != EqualityType::joint || joint->empty() || !uncoupled.contains(*joint)) continue;
      throw Error(
          fmt::format("{}: joint '{}' has no single coordinate; couple hinges or slides", element, *joint));
    }
    require_finite(e.anchor, element, "anchor");
    require_finite(e.polynomial, element, "polynomial");
    if (e.relative_pose) require_pose(*e.relative_pose, element);
  }
}

void validate_sensors(const Description& d, const AllNames& names) {
  const auto require_object = [&](ObjectType type, const std::string& name, const std::string& element) {
    switch (type) {
      case ObjectType::none: break;
      case ObjectType::body:
      case ObjectType::body_inertial: names.body.require(name, element, "body"); break;
      case ObjectType::frame: names.frame.require(name, element, "frame"); break;
      case ObjectType::geometry: names.geometry.require(name, element, "geometry"); break;
      case ObjectType::joint: names.joint.require(name, element, "joint"); break;
      case ObjectType::actuator: names.actuator.require(name, element, "actuator"); break;
      case ObjectType::tendon: names.tendon.require(name, element, "tendon"); break;
    }
  };
  for (const SensorDescription& sensor : d.sensors) {
    const std::string element = label("sensor", sensor);
    require_object(sensor.object_type, sensor.object, element);
    require_object(sensor.reference_type, sensor.reference, element);
  }
}

}  // namespace

void require_real_inertia(double mass, const Matrix3& about_com, const std::string& element) {
  if (!(mass >= 0.0)) throw Error(fmt::format("{}: the mass is negative ({})", element, mass));
  const double scale = about_com.cwiseAbs().maxCoeff();
  if (scale == 0.0) return;
  if (mass == 0.0) {
    throw Error(fmt::format("{}: it has inertia but no mass", element));
  }
  if ((about_com - about_com.transpose()).cwiseAbs().maxCoeff() > 1e-9 * scale) {
    throw Error(fmt::format("{}: the inertia matrix is not symmetric", element));
  }
  const Vector3 moments =
      Eigen::SelfAdjointEigenSolver<Matrix3>(about_com, Eigen::EigenvaluesOnly).eigenvalues();
  if (moments[0] < -1e-9 * scale) {
    throw Error(
        fmt::format("{}: the inertia is not positive (principal moments {:.6g}, {:.6g}, "
                    "{:.6g})",
                    element, moments[0], moments[1], moments[2]));
  }
  if (moments[0] + moments[1] < moments[2] * (1.0 - 1e-6)) {
    throw Error(
        fmt::format("{}: no real body has principal moments {:.6g}, {:.6g}, {:.6g}: the "
                    "largest exceeds the sum of the others",
                    element, moments[0], moments[1], moments[2]));
  }
}

void validate(const Description& d) {
  const AllNames names(d);
  require_finite(d.gravity, "model", "gravity");
  require_finite(d.timestep, "model", "timestep");
  if (d.timestep <= 0.0) {
    throw Error(fmt::format("model: the timestep must be positive ({})", d.timestep));
  }
  require_not_negative(d.medium.density, "model", "density");
  require_not_negative(d.medium.viscosity, "model", "viscosity");
  require_finite(d.medium.wind, "model", "wind");
  validate_bodies(d, names);
  validate_geometry(d, names);
  validate_actuators(d, names);
  validate_equalities(d, names);
  validate_sensors(d, names);
}

}  // namespace articula
