#pragma once
// The compiled robot: immutable, shared between threads.
//
// Structure holds what never changes (names, topology, index tables); `theta` holds every number
// that can be differentiated; the rest is derived from theta once, so that the recursions find their
// constants ready. `with` makes a variant that shares the structure.
//
// Bodies are what users name. Links are what moves: a body with joints, together with everything
// welded to it. Link 0 is the world. Bodies, links, joints and degrees of freedom are numbered in
// depth-first order, so that every subtree is one contiguous range.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/math/placement.hpp"
#include "articula/math/spatial.hpp"
#include "articula/model/description.hpp"
#include "articula/model/parameters.hpp"

namespace articula {

// How a link hangs on its parent; the common cases have a path of their own in forward_kinematics.
enum class LinkKind { world, kinematic, hinge, slide, free, several };

struct BodyIndex {
  std::string name;
  int parent = 0;
  int link = 0;
  int placement = -1;  // offset in theta: position (3), quaternion (4); the world has none
  int inertia = -1;    // offset in theta: 10 numbers
  int kinematic = -1;  // which pose of Input moves it; -1: none
  double gravity_compensation = 0.0;
};

struct LinkIndex {
  LinkKind kind = LinkKind::world;
  int parent = 0;
  int body = 0;       // the body whose frame is the link's frame
  bool root = false;  // its parent does not move by joints
  int joint_begin = 0, joint_end = 0;
  int dof_begin = 0, dof_end = 0;
  int subtree_end = 0;      // links of the subtree: [this, subtree_end)
  std::vector<int> bodies;  // the body itself and all welded to it
};

struct JointIndex {
  std::string name;
  JointType type = JointType::hinge;
  int link = 0, body = 0;
  int q = 0, dof = 0;  // first entry in q and v
  int angle = -1;      // hinge: position among the hinges (sines and cosines are batched)
  // offsets in theta; -1 where the joint has no such number
  int axis = -1, anchor = -1, stiffness = -1, spring_reference = -1, damping = -1, armature = -1,
      dry_friction = -1, range = -1;
};

struct DofIndex {
  int joint = 0, link = 0;
  int parent = -1;                     // previous degree of freedom towards the root
  int depth = 0;                       // number of ancestors
  int block_begin = 0, block_end = 0;  // the degrees of freedom that turn together (a ball: three)
  int subtree_end = 0;                 // degrees of freedom moved by this one: [this, subtree_end)
  int row = 0;                         // start of its row in tree-sparse matrices (crba.hpp)
};

struct FrameIndex {
  std::string name;
  int body = 0;
  int placement = 0;  // offset in theta
};

struct GeometryIndex {
  std::string name;
  int body = 0, link = 0;
  int size = -1, size_count = 0;  // offset in theta
  int placement = 0;
  int friction = 0, restitution = 0;
};

struct ActuatorIndex {
  std::string name;
  int gear = -1, gear_count = 0, gain = -1, bias = -1;  // offsets in theta
  int target = -1;                                      // joint, frame or tendon
  int reference_frame = -1;
  int activation = -1;  // entry in the state's activations
};

struct TendonIndex {
  std::string name;
  int coefficients = -1, stiffness = -1, damping = -1, armature = -1, dry_friction = -1;  // theta
  std::vector<int> joints;
};

struct Structure {
  std::shared_ptr<const Description> description;
  ParameterRegistry parameters;
  VectorX described_theta;  // as the description has it; what is derived from poses once stays with it

  std::vector<BodyIndex> bodies;
  std::vector<LinkIndex> links;
  std::vector<JointIndex> joints;
  std::vector<DofIndex> dofs;
  std::vector<FrameIndex> frames;
  std::vector<GeometryIndex> geometries;
  std::vector<ActuatorIndex> actuators;
  std::vector<TendonIndex> tendons;

  int nq = 0, nv = 0, nu = 0, na = 0;  // positions, velocities, controls, activations
  int nkinematic = 0;                  // poses the user moves
  int nhinge = 0;
  std::vector<int> hinge_joints;  // joint of each hinge
  int sparse_size = 0;            // numbers in a tree-sparse matrix, rows padded to 4
  std::vector<int> path;          // ancestors of each dof, root first; row d at dofs[d].row

  int gravity = 0, timestep = 0, density = 0, viscosity = 0, wind = 0;  // offsets in theta
};

// What forward kinematics needs of a link, derived from theta.
//   hinge: R_local(q) = fixed + cos(q - ref) along_cos + sin(q - ref) along_sin,
//          p_local(q) = anchor_in_parent - R_local anchor
struct LinkConstants {
  Mat3 rotation;  // of the link's frame in its parent link, joints at their reference
  Vec3 position;
  Mat3 hinge_fixed, hinge_cos, hinge_sin;
  Vec3 anchor_in_parent, anchor, axis_in_parent;
  Inertia inertia;  // of all its bodies, about the link's origin in the link's axes
};

struct JointConstants {
  Vec3 axis, anchor;  // unit; in the link's frame
  double reference = 0.0;
};

// The box of uniform density that has a body's inertia; the medium drags on it.
struct InertiaBox {
  Mat3 axes = Mat3::identity();  // principal axes in the body's frame
  Vec3 moments;                  // principal moments of inertia
  Vec3 size;                     // edge lengths; zero: the body has no mass
};

struct Constants {
  std::vector<LinkConstants> links;
  std::vector<JointConstants> joints;
  std::vector<Placement> body_in_link;
  std::vector<Vec3> body_com;  // in the link's frame; massless: as described
  std::vector<InertiaBox> body_box;
  // Per dof; with what actuators (and tendons of one joint) reflect to it.
  std::vector<double> armature, damping, dry_friction;
  std::vector<double> tendon_damping;  // per tendon; with what actuators reflect to it
  VectorX q_reference;                 // neutral configuration
};

// Throws Error, naming the slice, if theta describes no real body or has a non-finite number.
Constants derive_constants(const Structure& structure, const VectorX& theta);

class Model {
 public:
  // From a checked structure; users call `build` (builder.hpp) or `load`.
  Model(std::shared_ptr<const Structure> structure, VectorX theta);

  const Structure& structure() const { return *structure_; }
  std::shared_ptr<const Structure> shared_structure() const { return structure_; }
  const Description& description() const { return *structure_->description; }
  const ParameterRegistry& parameters() const { return structure_->parameters; }
  const VectorX& theta() const { return theta_; }

  int nq() const { return structure_->nq; }
  int nv() const { return structure_->nv; }
  int nu() const { return structure_->nu; }
  int na() const { return structure_->na; }
  int nbody() const { return static_cast<int>(structure_->bodies.size()); }
  int nlink() const { return static_cast<int>(structure_->links.size()); }
  int njoint() const { return static_cast<int>(structure_->joints.size()); }

  // The same robot with other numbers. Throws Error if they describe no real body.
  Model with(const ConstVectorRef& theta) const;
  // Only the named slice (or every slice matching a pattern) changes; values in order of theta.
  Model with(std::string_view pattern, const ConstVectorRef& values) const;
  VectorX parameter(std::string_view pattern) const;

  const VectorX& neutral_configuration() const { return constants_.q_reference; }
  int body(std::string_view name) const;  // index; throws Error with the nearest names
  int joint(std::string_view name) const;
  int frame(std::string_view name) const;

  Vec3 gravity() const { return load3(theta_.data() + structure_->gravity); }
  double timestep() const { return theta_[structure_->timestep]; }
  double total_mass() const;

  const Constants& constants() const { return constants_; }

 private:
  std::shared_ptr<const Structure> structure_;
  VectorX theta_;
  Constants constants_;
};

}  // namespace articula
