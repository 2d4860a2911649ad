#include "registration.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <unordered_map>

#include "articula/error.hpp"

namespace articula {

namespace {

// Collects theta while slices are registered.
class Collector {
 public:
  explicit Collector(ParameterRegistry& registry) : registry_(registry) {}

  template <class... Numbers>
  int add(std::string name, ParameterKind kind, const Numbers&... numbers) {
    const size_t before = values_.size();
    (append(numbers), ...);
    return registry_.add(std::move(name), kind, static_cast<int>(values_.size() - before));
  }

  VectorX values() const {
    return Eigen::Map<const VectorX>(values_.data(), static_cast<Eigen::Index>(values_.size()));
  }

 private:
  void append(double x) { values_.push_back(x); }
  void append(const Quaternion& q) {
    const Quaternion unit = q.normalized();
    for (double x : {unit.w(), unit.x(), unit.y(), unit.z()}) values_.push_back(x);
  }
  void append(const Pose& pose) { append(pose.position), append(pose.rotation); }
  template <class Derived>
  void append(const Eigen::MatrixBase<Derived>& m) {
    for (Eigen::Index i = 0; i < m.size(); ++i) values_.push_back(m(i));
  }
  template <size_t N>
  void append(const std::array<double, N>& a) {
    values_.insert(values_.end(), a.begin(), a.end());
  }

  ParameterRegistry& registry_;
  std::vector<double> values_;
};

// A name for what may have none: its own, or its number.
std::string slice_name(const char* kind, const std::string& name, size_t index, const char* what) {
  return name.empty() ? fmt::format("{}/{}/{}", kind, index, what)
                      : fmt::format("{}/{}/{}", kind, name, what);
}

void register_joint(Collector& theta, JointIndex& joint, const JointDescription& described) {
  const auto add = [&](const char* what, ParameterKind kind, const auto&... numbers) {
    return theta.add(fmt::format("joint/{}/{}", joint.name, what), kind, numbers...);
  };
  const bool scalar = joint.type == JointType::hinge || joint.type == JointType::slide;
  if (scalar) joint.axis = add("axis", ParameterKind::placement, described.axis.normalized());
  if (joint.type == JointType::hinge || joint.type == JointType::ball) {
    joint.anchor = add("anchor", ParameterKind::placement, described.position);
  }
  joint.stiffness = add("stiffness", ParameterKind::stiffness, described.stiffness);
  if (scalar) {
    joint.spring_reference = add("spring_reference", ParameterKind::stiffness, described.spring_reference);
  }
  joint.damping = add("damping", ParameterKind::damping, described.damping);
  joint.armature = add("armature", ParameterKind::armature, described.armature);
  joint.dry_friction = add("dry_friction", ParameterKind::dry_friction, described.dry_friction);
  if (described.range) joint.range = add("range", ParameterKind::limits, *described.range);
}

void register_bodies(Structure& s, Collector& theta) {
  const Description& d = *s.description;
  size_t next_joint = 0;
  for (size_t i = 1; i < s.bodies.size(); ++i) {
    BodyIndex& body = s.bodies[i];
    const BodyDescription& described = d.bodies[i - 1];
    body.placement =
        theta.add(fmt::format("body/{}/placement", body.name), ParameterKind::placement, described.pose);
    const InertiaDescription& inertia = described.inertia;
    body.inertia = theta.add(fmt::format("body/{}/inertia", body.name), ParameterKind::inertia,
                             to_inertial_vector(inertia.mass, inertia.com, inertia.inertia));
    for (const JointDescription& joint : described.joints) {
      register_joint(theta, s.joints[next_joint++], joint);
    }
  }
}

// How many of the three size numbers a shape has.
int size_count(ShapeType type) {
  switch (type) {
    case ShapeType::sphere: return 1;
    case ShapeType::capsule:
    case ShapeType::cylinder: return 2;
    case ShapeType::box:
    case ShapeType::ellipsoid: return 3;
    case ShapeType::plane:
    case ShapeType::mesh:
    case ShapeType::height_field: return 0;
  }
  return 0;
}

template <class Elements>
std::unordered_map<std::string, int> index_by_name(const Elements& elements) {
  std::unordered_map<std::string, int> index;
  for (size_t i = 0; i < elements.size(); ++i) index.emplace(elements[i].name, static_cast<int>(i));
  return index;
}

void register_frames_and_geometry(Structure& s, Collector& theta) {
  const Description& d = *s.description;
  const auto bodies = index_by_name(s.bodies);
  for (size_t i = 0; i < d.frames.size(); ++i) {
    const FrameDescription& described = d.frames[i];
    FrameIndex frame{described.name, bodies.at(described.body), 0};
    frame.placement =
        theta.add(slice_name("frame", frame.name, i, "placement"), ParameterKind::placement, described.pose);
    s.frames.push_back(std::move(frame));
  }
  for (size_t i = 0; i < d.geometries.size(); ++i) {
    const GeometryDescription& described = d.geometries[i];
    GeometryIndex geometry;
    geometry.name = described.name;
    geometry.body = bodies.at(described.body);
    geometry.link = s.bodies[geometry.body].link;
    const auto add = [&](const char* what, ParameterKind kind, const auto& numbers) {
      return theta.add(slice_name("geometry", described.name, i, what), kind, numbers);
    };
    geometry.size_count = size_count(described.type);
    if (geometry.size_count > 0) {
      geometry.size =
          add("size", ParameterKind::geometry, Eigen::VectorXd(described.size.head(geometry.size_count)));
    }
    geometry.placement = add("placement", ParameterKind::geometry, described.pose);
    geometry.friction = add("friction", ParameterKind::friction, described.friction);
    geometry.restitution = add("restitution", ParameterKind::restitution, described.restitution);
    s.geometries.push_back(std::move(geometry));
  }
}

void register_tendons(Structure& s, Collector& theta) {
  const auto joints = index_by_name(s.joints);
  const Description& d = *s.description;
  for (size_t i = 0; i < d.tendons.size(); ++i) {
    const TendonDescription& described = d.tendons[i];
    TendonIndex tendon;
    tendon.name = described.name;
    VectorX coefficients(static_cast<Eigen::Index>(described.terms.size()));
    for (size_t k = 0; k < described.terms.size(); ++k) {
      tendon.joints.push_back(joints.at(described.terms[k].joint));
      coefficients[static_cast<Eigen::Index>(k)] = described.terms[k].coefficient;
    }
    const auto add = [&](const char* what, ParameterKind kind, const auto& numbers) {
      return theta.add(slice_name("tendon", described.name, i, what), kind, numbers);
    };
    tendon.coefficients = add("coefficients", ParameterKind::gains, coefficients);
    tendon.stiffness = add("stiffness", ParameterKind::stiffness, described.stiffness);
    tendon.damping = add("damping", ParameterKind::damping, described.damping);
    tendon.armature = add("armature", ParameterKind::armature, described.armature);
    tendon.dry_friction = add("dry_friction", ParameterKind::dry_friction, described.dry_friction);
    s.tendons.push_back(std::move(tendon));
  }
}

void register_actuators(Structure& s, Collector& theta) {
  const Description& d = *s.description;
  const auto joints = index_by_name(s.joints);
  const auto frames = index_by_name(s.frames);
  const auto tendons = index_by_name(s.tendons);
  for (size_t i = 0; i < d.actuators.size(); ++i) {
    const ActuatorDescription& described = d.actuators[i];
    ActuatorIndex actuator;
    actuator.name = described.name;
    switch (described.transmission) {
      case TransmissionType::joint:
      case TransmissionType::joint_in_parent: actuator.target = joints.at(described.target); break;
      case TransmissionType::frame: actuator.target = frames.at(described.target); break;
      case TransmissionType::tendon: actuator.target = tendons.at(described.target); break;
    }
    if (!described.reference_frame.empty()) {
      actuator.reference_frame = frames.at(described.reference_frame);
    }
    if (described.activation != ActivationType::none) actuator.activation = s.na++;
    const auto add = [&](const char* what, const auto& numbers) {
      return theta.add(slice_name("actuator", described.name, i, what), ParameterKind::gains, numbers);
    };
    actuator.gear = add("gear", described.gear);
    actuator.gear_count = static_cast<int>(described.gear.size());
    actuator.gain = add("gain", described.gain);
    actuator.bias = add("bias", described.bias);
    s.actuators.push_back(std::move(actuator));
  }
  s.nu = static_cast<int>(s.actuators.size());
}

}  // namespace

VectorX register_parameters(Structure& s) {
  const Description& d = *s.description;
  Collector theta(s.parameters);
  register_bodies(s, theta);
  register_frames_and_geometry(s, theta);
  register_tendons(s, theta);
  register_actuators(s, theta);
  s.gravity = theta.add("gravity", ParameterKind::gravity, d.gravity);
  s.density = theta.add("medium/density", ParameterKind::medium, d.medium.density);
  s.viscosity = theta.add("medium/viscosity", ParameterKind::medium, d.medium.viscosity);
  s.wind = theta.add("medium/wind", ParameterKind::medium, d.medium.wind);
  s.timestep = theta.add("timestep", ParameterKind::dt, d.timestep);
  return theta.values();
}

namespace {

// The neutral pose of every body, and the inertia of every link's subtree about the world's origin.
std::vector<Inertia> subtree_inertias(const Model& model, std::vector<Placement>& link_pose) {
  const Structure& s = model.structure();
  const Constants& c = model.constants();
  link_pose.assign(s.links.size(), {Mat3::identity(), Vec3()});
  std::vector<Inertia> subtree(s.links.size());
  for (size_t k = 1; k < s.links.size(); ++k) {
    const Placement& parent = link_pose[s.links[k].parent];
    link_pose[k] = {parent.R * c.links[k].rotation, parent.p + parent.R * c.links[k].position};
    subtree[k] = placed(c.links[k].inertia, link_pose[k].R, link_pose[k].p);
  }
  for (size_t k = s.links.size() - 1; k > 0; --k) {
    subtree[s.links[k].parent] += subtree[k];
  }
  return subtree;
}

// The smallest inertia the joint's own degrees of freedom feel, armature included.
double felt_inertia(const Structure& s, const Constants& c, const JointIndex& joint, const Inertia& subtree,
                    const Placement& pose) {
  const double armature = c.armature[joint.dof];
  if (joint.type == JointType::slide) return subtree.mass + armature;
  const JointConstants& constants = c.joints[&joint - s.joints.data()];
  const Vec3 anchor = pose.p + pose.R * constants.anchor;
  const Inertia about_anchor = placed(subtree, Mat3::identity(), -anchor);
  if (joint.type == JointType::hinge) {
    const Vec3 axis = pose.R * constants.axis;
    return dot(axis, about_anchor.rotational * axis) + armature;
  }
  const double turning =
      Eigen::SelfAdjointEigenSolver<Matrix3>(about_anchor.rotational.eigen()).eigenvalues()[0] + armature;
  return joint.type == JointType::free ? std::min(subtree.mass + armature, turning) : turning;
}

}  // namespace

void require_moving_inertia(const Model& model) {
  const Structure& s = model.structure();
  std::vector<Placement> link_pose;
  const std::vector<Inertia> subtree = subtree_inertias(model, link_pose);
  for (const JointIndex& joint : s.joints) {
    const size_t link = joint.link;
    if (felt_inertia(s, model.constants(), joint, subtree[link], link_pose[link]) > 1e-14) continue;
    const std::string& where = model.description().bodies[joint.body - 1].where;
    throw Error(
        fmt::format("{}{}joint '{}' of body '{}' moves no inertia: give the body (or one it "
                    "carries) mass, or the joint armature",
                    where, where.empty() ? "" : ": ", joint.name, s.bodies[joint.body].name));
  }
}

}  // namespace articula
