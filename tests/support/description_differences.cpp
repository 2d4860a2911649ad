#include "tests/support/description_differences.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <span>

namespace articula::testing {

namespace {

class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  std::vector<std::string> found;

  void numbers(const std::string& what, std::span<const double> a, std::span<const double> b) {
    if (a.size() != b.size()) return note(what, a.size(), b.size());
    double scale = 1e-9;  // what is all tiny must still agree in its leading digits
    for (double x : a) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i] - b[i]) <= tolerance_ * scale)) return note(what, a[i], b[i]);
    }
  }
  void number(const std::string& what, double a, double b) {
    numbers(what, std::span(&a, 1), std::span(&b, 1));
  }
  template <class Matrix>
  void matrix(const std::string& what, const Matrix& a, const Matrix& b) {
    numbers(what, std::span(a.data(), static_cast<std::size_t>(a.size())),
            std::span(b.data(), static_cast<std::size_t>(b.size())));
  }
  // Lengths on a robot are compared on the scale of a metre.
  void pose(const std::string& what, const Pose& a, const Pose& b) {
    const double distance = (a.position - b.position).norm() / std::max(1.0, a.position.norm());
    const double turn = (a.rotation.coeffs() - b.rotation.normalized().coeffs()).norm();
    const double back = (a.rotation.coeffs() + b.rotation.normalized().coeffs()).norm();
    if (distance > tolerance_) note(what + " position", distance, 0.0);
    if (std::min(turn, back) > tolerance_) note(what + " rotation", std::min(turn, back), 0.0);
  }
  template <class Value>
  void exact(const std::string& what, const Value& a, const Value& b) {
    if (a == b) return;
    if constexpr (std::is_enum_v<Value>) {
      note(what, static_cast<int>(a), static_cast<int>(b));
    } else {
      note(what, a, b);
    }
  }
  void range(const std::string& what, const std::optional<Vector2>& a, const std::optional<Vector2>& b) {
    exact(what + " given", a.has_value(), b.has_value());
    if (a && b) matrix(what, *a, *b);
  }
  template <class List, class Compare>
  void lists(const char* kind, const List& a, const List& b, Compare compare) {
    if (a.size() != b.size()) return note(fmt::format("number of {}", kind), a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) compare(fmt::format("{} {}", kind, i), a[i], b[i]);
  }

 private:
  template <class A, class B>
  void note(const std::string& what, const A& a, const B& b) {
    found.push_back(fmt::format("{}: {} and {}", what, a, b));
  }

  double tolerance_;
};

void compare_joint(Comparison& c, const std::string& at, const JointDescription& a,
                   const JointDescription& b) {
  c.exact(at + " name", a.name, b.name);
  c.exact(at + " type", a.type, b.type);
  if (a.type == JointType::hinge || a.type == JointType::slide) {
    c.matrix(at + " axis", Vector3(a.axis.normalized()), Vector3(b.axis.normalized()));
  }
  if (a.type != JointType::free) c.matrix(at + " position", a.position, b.position);
  c.number(at + " reference", a.reference, b.reference);
  c.number(at + " spring reference", a.spring_reference, b.spring_reference);
  c.number(at + " stiffness", a.stiffness, b.stiffness);
  c.number(at + " damping", a.damping, b.damping);
  c.number(at + " armature", a.armature, b.armature);
  c.number(at + " dry friction", a.dry_friction, b.dry_friction);
  c.range(at + " range", a.range, b.range);
  c.number(at + " limit margin", a.limit_margin, b.limit_margin);
  c.range(at + " actuator force range", a.actuator_force_range, b.actuator_force_range);
  c.exact(at + " carries gravity", a.actuator_carries_gravity, b.actuator_carries_gravity);
}

void compare_body(Comparison& c, const std::string& at, const BodyDescription& a, const BodyDescription& b) {
  c.exact(at + " name", a.name, b.name);
  c.exact(at + " parent", a.parent, b.parent);
  c.pose(at, a.pose, b.pose);
  c.number(at + " mass", a.inertia.mass, b.inertia.mass);
  c.matrix(at + " com", a.inertia.com, b.inertia.com);
  c.matrix(at + " inertia", a.inertia.inertia, b.inertia.inertia);
  c.exact(at + " as given", a.inertia.as_given, b.inertia.as_given);
  c.exact(at + " kinematic", a.kinematic, b.kinematic);
  c.number(at + " gravity compensation", a.gravity_compensation, b.gravity_compensation);
  c.lists((at + " joint").c_str(), a.joints, b.joints,
          [&](const std::string& where, const auto& x, const auto& y) { compare_joint(c, where, x, y); });
}

// How far a hull reaches in a direction; what of it qhull lists, and in which order, rounding decides.
double reach(const Mesh& mesh, const Vector3& direction) {
  double most = -INFINITY;
  for (const auto vertex : mesh.hull)
    most = std::max(most, direction.dot(mesh.vertices[static_cast<std::size_t>(vertex)]));
  return most;
}

void compare_hulls(Comparison& c, const std::string& at, const Mesh& a, const Mesh& b) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 300; ++i) {
    const Vector3 direction = Vector3(normal(random), normal(random), normal(random)).normalized();
    c.number(at + " reach of the hull", reach(a, direction), reach(b, direction));
  }
}

void compare_mesh(Comparison& c, const std::string& at, const Mesh& a, const Mesh& b) {
  c.exact(at + " name", a.name, b.name);
  c.pose(at + " source", a.source, b.source);
  c.lists((at + " vertices").c_str(), a.vertices, b.vertices,
          [&](const std::string& where, const Vector3& x, const Vector3& y) {
            if ((x - y).norm() > 1e-12 * std::max(1.0, x.norm())) c.matrix(where, x, y);
          });
  c.exact(at + " faces", a.faces == b.faces, true);
  c.exact(at + " has a hull", a.hull.empty(), b.hull.empty());
  if (!a.hull.empty() && !b.hull.empty()) compare_hulls(c, at, a, b);
}

void compare_geometry(Comparison& c, const std::string& at, const GeometryDescription& a,
                      const GeometryDescription& b) {
  c.exact(at + " name", a.name, b.name);
  c.exact(at + " body", a.body, b.body);
  c.exact(at + " type", a.type, b.type);
  c.matrix(at + " size", a.size, b.size);
  c.pose(at, a.pose, b.pose);
  c.exact(at + " asset", a.asset, b.asset);
  c.matrix(at + " friction", a.friction, b.friction);
  c.number(at + " restitution", a.restitution, b.restitution);
  c.exact(at + " condim", a.condim, b.condim);
  c.exact(at + " contype", a.contype, b.contype);
  c.exact(at + " conaffinity", a.conaffinity, b.conaffinity);
  c.exact(at + " priority", a.priority, b.priority);
  c.number(at + " margin", a.margin, b.margin);
  c.number(at + " gap", a.gap, b.gap);
  c.exact(at + " group", a.group, b.group);
  c.exact(at + " colour", a.rgba == b.rgba, true);
  c.number(at + " mass", a.mass, b.mass);
}

void compare_tree(Comparison& c, const Description& a, const Description& b) {
  c.lists("body", a.bodies, b.bodies,
          [&](const std::string& at, const auto& x, const auto& y) { compare_body(c, at, x, y); });
  c.lists("frame", a.frames, b.frames, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.exact(at + " body", x.body, y.body);
    c.pose(at, x.pose, y.pose);
    c.exact(at + " type", x.type, y.type);
    c.matrix(at + " size", x.size, y.size);
  });
  c.lists("mesh", a.meshes, b.meshes,
          [&](const std::string& at, const auto& x, const auto& y) { compare_mesh(c, at, *x, *y); });
  c.lists("height field", a.height_fields, b.height_fields,
          [&](const std::string& at, const auto& x, const auto& y) {
            c.exact(at + " name", x->name, y->name);
            c.exact(at + " rows", x->rows, y->rows);
            c.numbers(at + " elevation", x->elevation, y->elevation);
            c.numbers(at + " size", x->size, y->size);
          });
  c.lists("geometry", a.geometries, b.geometries,
          [&](const std::string& at, const auto& x, const auto& y) { compare_geometry(c, at, x, y); });
}

void compare_constraints(Comparison& c, const Description& a, const Description& b) {
  c.lists("pair", a.contact_pairs, b.contact_pairs, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.exact(at + " first", x.geometry1, y.geometry1);
    c.exact(at + " second", x.geometry2, y.geometry2);
    c.exact(at + " condim", x.condim, y.condim);
    c.numbers(at + " friction", x.friction, y.friction);
    c.number(at + " margin", x.margin, y.margin);
    c.number(at + " gap", x.gap, y.gap);
  });
  c.lists("exclusion", a.contact_exclusions, b.contact_exclusions,
          [&](const std::string& at, const auto& x, const auto& y) {
            c.exact(at + " first", x.body1, y.body1);
            c.exact(at + " second", x.body2, y.body2);
          });
  c.lists("equality", a.equalities, b.equalities, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.exact(at + " type", x.type, y.type);
    c.exact(at + " first", x.first, y.first);
    c.exact(at + " second", x.second, y.second);
    c.matrix(at + " anchor", x.anchor, y.anchor);
    c.exact(at + " anchor 2 given", x.anchor2.has_value(), y.anchor2.has_value());
    if (x.anchor2 && y.anchor2) c.matrix(at + " anchor 2", *x.anchor2, *y.anchor2);
    c.exact(at + " pose given", x.relative_pose.has_value(), y.relative_pose.has_value());
    if (x.relative_pose && y.relative_pose) c.pose(at, *x.relative_pose, *y.relative_pose);
    c.numbers(at + " polynomial", x.polynomial, y.polynomial);
    c.number(at + " torque scale", x.torque_scale, y.torque_scale);
    c.exact(at + " active", x.active, y.active);
  });
}

void compare_actuators(Comparison& c, const Description& a, const Description& b) {
  c.lists("tendon", a.tendons, b.tendons, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.lists((at + " term").c_str(), x.terms, y.terms,
            [&](const std::string& where, const auto& s, const auto& t) {
              c.exact(where + " joint", s.joint, t.joint);
              c.number(where + " coefficient", s.coefficient, t.coefficient);
            });
    c.number(at + " stiffness", x.stiffness, y.stiffness);
    c.number(at + " damping", x.damping, y.damping);
    c.number(at + " armature", x.armature, y.armature);
    c.number(at + " dry friction", x.dry_friction, y.dry_friction);
    c.range(at + " spring length", x.spring_length, y.spring_length);
    c.range(at + " range", x.range, y.range);
    c.number(at + " margin", x.limit_margin, y.limit_margin);
    c.range(at + " actuator force range", x.actuator_force_range, y.actuator_force_range);
  });
  c.lists("actuator", a.actuators, b.actuators, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.exact(at + " transmission", x.transmission, y.transmission);
    c.exact(at + " target", x.target, y.target);
    c.exact(at + " reference frame", x.reference_frame, y.reference_frame);
    c.numbers(at + " gear", x.gear, y.gear);
    c.numbers(at + " gain", x.gain, y.gain);
    c.numbers(at + " bias", x.bias, y.bias);
    c.exact(at + " activation", x.activation, y.activation);
    c.number(at + " time constant", x.time_constant, y.time_constant);
    c.exact(at + " early", x.activation_early, y.activation_early);
    c.range(at + " control range", x.control_range, y.control_range);
    c.range(at + " force range", x.force_range, y.force_range);
    c.range(at + " activation range", x.activation_range, y.activation_range);
    c.number(at + " armature", x.armature, y.armature);
    c.number(at + " damping", x.damping, y.damping);
  });
}

void compare_records(Comparison& c, const Description& a, const Description& b) {
  c.lists("sensor", a.sensors, b.sensors, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.exact(at + " type", x.type, y.type);
    c.exact(at + " object type", x.object_type, y.object_type);
    c.exact(at + " object", x.object, y.object);
    c.exact(at + " reference type", x.reference_type, y.reference_type);
    c.exact(at + " reference", x.reference, y.reference);
    c.number(at + " cutoff", x.cutoff, y.cutoff);
    c.exact(at + " dimension", x.dimension, y.dimension);
  });
  c.lists("keyframe", a.keyframes, b.keyframes, [&](const std::string& at, const auto& x, const auto& y) {
    c.exact(at + " name", x.name, y.name);
    c.number(at + " time", x.time, y.time);
    c.numbers(at + " q", x.q, y.q);
    c.numbers(at + " v", x.v, y.v);
    c.numbers(at + " activation", x.activation, y.activation);
    c.numbers(at + " control", x.control, y.control);
    c.numbers(at + " position", x.kinematic_position, y.kinematic_position);
    c.numbers(at + " rotation", x.kinematic_rotation, y.kinematic_rotation);
  });
}

}  // namespace

std::vector<std::string> differences(const Description& a, const Description& b, double tolerance) {
  Comparison c(tolerance);
  c.exact("name", a.name, b.name);
  c.matrix("gravity", a.gravity, b.gravity);
  c.number("timestep", a.timestep, b.timestep);
  c.number("density", a.medium.density, b.medium.density);
  c.number("viscosity", a.medium.viscosity, b.medium.viscosity);
  c.matrix("wind", a.medium.wind, b.medium.wind);
  c.matrix("magnetic flux", a.magnetic_flux, b.magnetic_flux);
  c.exact("parent-child contacts", a.parent_child_contacts, b.parent_child_contacts);
  compare_tree(c, a, b);
  compare_constraints(c, a, b);
  compare_actuators(c, a, b);
  compare_records(c, a, b);
  return c.found;
}

}  // namespace articula::testing
