#pragma once
// What a robot is, as people write it: a tree of named bodies with joints, geometry, actuators.
//
// Loaders fill a Description, `attach` composes several, `build` (builder.hpp) checks it and makes
// the immutable Model the algorithms work on. Elements refer to each other by name. Empty names are
// allowed where nothing refers to the element; `build` gives bodies and joints a name of their own.
// SI units, radians. `where` says where an element was written and what it is, for error messages:
// robot.xml:12: <joint name="knee">.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "articula/math/types.hpp"

namespace articula {

// ------------------------------------------------------------------ bodies and joints

enum class JointType { fixed, hinge, slide, ball, free };

struct JointDescription {
  std::string name;
  JointType type = JointType::hinge;
  Vector3 axis = Vector3::UnitZ();              // hinge, slide: in the body's frame; need not be a unit
  Vector3 position = Vector3::Zero();           // the point it turns about, in the body's frame
  double reference = 0.0;                       // hinge, slide: value of q in the pose as described
  double spring_reference = 0.0;                // hinge, slide: value of q where the spring is at rest
  double stiffness = 0.0;                       // N m/rad or N/m
  double damping = 0.0;                         // N m s/rad or N s/m
  double armature = 0.0;                        // kg m^2 or kg: inertia of the rotor, seen at the joint
  double dry_friction = 0.0;                    // N m or N
  std::optional<Vector2> range;                 // hinge, slide: q; ball: (0, largest angle)
  double limit_margin = 0.0;                    // distance from the limit at which it becomes active
  std::optional<Vector2> actuator_force_range;  // of the sum of all actuators on the joint
  bool actuator_carries_gravity = false;        // gravity compensation counts as actuator force
  std::string where;
};

struct InertiaDescription {
  double mass = 0.0;
  Vector3 com = Vector3::Zero();      // in the body's frame
  Matrix3 inertia = Matrix3::Zero();  // about the centre of mass, in the body's axes
  // Axes in which `inertia` is diagonal. They are kept because fluid drag acts on a box along them,
  // and two equal moments leave the box's orientation open. Absent: any principal axes.
  std::optional<Quaternion> principal_axes;
  // Taken from a file as it is, although no real body has it: `build` does not insist.
  bool as_given = false;
};

struct BodyDescription {
  std::string name;
  std::string parent = "world";
  Pose pose;                             // in the parent's frame, with all joints at `reference`
  std::vector<JointDescription> joints;  // applied in order; none: welded to the parent
  InertiaDescription inertia;
  bool kinematic = false;             // moved by the user (mocap); child of the world, no joints
  double gravity_compensation = 0.0;  // fraction of the weight carried by an invisible hand
  std::string where;
};

enum class ShapeType { plane, sphere, capsule, box, cylinder, ellipsoid, mesh, height_field };

// A named place on a body (MuJoCo's site).
struct FrameDescription {
  std::string name;
  std::string body = "world";
  Pose pose;
  ShapeType type = ShapeType::sphere;  // the zone of a touch sensor; sizes as for geometry
  Vector3 size = Vector3::Constant(0.005);
  std::string where;
};

// ------------------------------------------------------------------ geometry

// How a mesh fills space. convex: its hull; exact: the signed volume of a closed, well-oriented
// surface; legacy: MuJoCo's default, which counts every pyramid over a face as positive (equal to
// exact for shapes that are star-shaped about their centre); shell: mass on the surface.
enum class MeshInertia { convex, exact, legacy, shell };

// Vertices are stored scaled (mirrored, where a scale is negative), centred at the centre of mass
// and turned to the principal axes of the mesh; the poses of geometries that use the mesh make up
// for that, so that a vertex is at `geometry.pose * vertex` in the body's frame.
struct Mesh {
  std::string name;
  std::vector<Vector3> vertices;
  std::vector<std::array<int, 3>> faces;       // of the surface, counter-clockwise from outside
  std::vector<int> hull;                       // vertices on the convex hull, ascending; may be empty
  std::vector<std::array<int, 3>> hull_faces;  // counter-clockwise from outside; where nothing
                                               // collides with the mesh it has no hull
  Pose source;                                 // centre and axes in the file's (scaled) coordinates
  // How it was made: from the file (empty: inline vertices), seen from `reference`, scaled; with the
  // mass distribution that decides `source`, and the most vertices a hull may have (0: no limit).
  std::string file;
  Pose reference;
  Vector3 scale = Vector3::Ones();
  MeshInertia inertia = MeshInertia::legacy;
  int most_hull_vertices = 0;
};

struct HeightField {
  std::string name;
  int rows = 0, columns = 0;      // rows along y, columns along x
  std::vector<double> elevation;  // row-major, in [0, 1]
  std::array<double, 4> size{};   // half width x, half width y, height of 1, base thickness
  std::string file;
};

struct GeometryDescription {
  std::string name;
  std::string body = "world";
  ShapeType type = ShapeType::sphere;
  // plane: half sizes x, y (0: endless); sphere: radius; capsule, cylinder: radius, half length
  // along z; box: half sizes; ellipsoid: radii; mesh, height field: unused
  Vector3 size = Vector3::Zero();
  Pose pose;                             // in the body's frame
  std::string asset;                     // name of the mesh or height field
  Vector3 friction{1.0, 0.005, 0.0001};  // sliding (1), spinning (m), rolling (m)
  double restitution = 0.0;
  int condim = 3;  // 1 frictionless, 3 sliding, 4 and spinning, 6 and rolling
  int contype = 1, conaffinity = 1;
  int priority = 0;
  double margin = 0.0, gap = 0.0;
  int group = 0;
  std::array<float, 4> rgba{0.5f, 0.5f, 0.5f, 1.0f};
  double mass = 0.0;  // what the body's inertia says is what counts; kept for writing
  std::string where;
};

struct ContactPairDescription {
  std::string name, geometry1, geometry2;
  int condim = 3;
  std::array<double, 5> friction{1.0, 1.0, 0.005, 0.0001, 0.0001};
  double margin = 0.0, gap = 0.0;
  std::string where;
};

struct ContactExclusion {
  std::string body1, body2;
  std::string where;
};

// ------------------------------------------------------------------ actuators, constraints, sensors

enum class TransmissionType { joint, joint_in_parent, frame, tendon };
enum class ActivationType { none, integrator, filter, filter_exact };

// force = (gain_0 + gain_1 length + gain_2 velocity) * (control or activation)
//       + bias_0 + bias_1 length + bias_2 velocity,     clamped to force_range.
struct ActuatorDescription {
  std::string name;
  TransmissionType transmission = TransmissionType::joint;
  std::string target;           // joint, frame or tendon
  std::string reference_frame;  // frame transmission: wrench in this frame's axes
  std::array<double, 6> gear{1, 0, 0, 0, 0, 0};
  std::array<double, 3> gain{1, 0, 0};
  std::array<double, 3> bias{0, 0, 0};
  ActivationType activation = ActivationType::none;
  double time_constant = 1.0;  // s, of a filter
  bool activation_early = false;
  std::optional<Vector2> control_range, force_range, activation_range;
  double armature = 0.0, damping = 0.0;
  std::string where;
};

// A fixed tendon: length = sum_i coefficient_i q_i.
struct TendonDescription {
  std::string name;
  struct Term {
    std::string joint;
    double coefficient = 0.0;
  };
  std::vector<Term> terms;
  double stiffness = 0.0, damping = 0.0, armature = 0.0, dry_friction = 0.0;
  std::optional<Vector2> spring_length;  // dead band where the spring is at rest
  std::optional<Vector2> range;
  double limit_margin = 0.0;
  std::optional<Vector2> actuator_force_range;
  std::string where;
};

enum class EqualityType { connect, weld, joint, tendon };

struct EqualityDescription {
  std::string name;
  EqualityType type = EqualityType::connect;
  // connect, weld: bodies (second may be "world"); joint, tendon: their names (second may be empty)
  std::string first, second;
  Vector3 anchor = Vector3::Zero();   // connect: in the first body's frame; weld: in the second's
  std::optional<Vector3> anchor2;     // connect between frames: in the second body's frame
  std::optional<Pose> relative_pose;  // weld: second in first; absent: as described
  std::array<double, 5> polynomial{0, 1, 0, 0, 0};  // joint: q1 - ref1 = sum c_i (q2 - ref2)^i
  double torque_scale = 1.0;
  bool active = true;
  std::string where;
};

enum class SensorType {
  joint_position,
  joint_velocity,
  actuator_position,
  actuator_velocity,
  actuator_force,
  joint_actuator_force,
  tendon_position,
  tendon_velocity,
  ball_quaternion,
  ball_angular_velocity,
  joint_limit_position,
  joint_limit_velocity,
  frame_position,
  frame_quaternion,
  frame_x_axis,
  frame_y_axis,
  frame_z_axis,
  frame_linear_velocity,
  frame_angular_velocity,
  frame_linear_acceleration,
  frame_angular_acceleration,
  gyro,
  velocimeter,
  accelerometer,
  magnetometer,
  force,
  torque,
  touch,
  subtree_com,
  subtree_linear_velocity,
  subtree_angular_momentum,
  clock,
  tendon_actuator_force,
  joint_limit_force,
  tendon_limit_position,
  tendon_limit_velocity,
  tendon_limit_force,
  range_finder,
  potential_energy,
  kinetic_energy,
  user  // as many numbers as `dimension`, all zero: only the user knows them
};

enum class ObjectType { none, body, body_inertial, frame, geometry, joint, actuator, tendon };

struct SensorDescription {
  std::string name;
  SensorType type = SensorType::joint_position;
  ObjectType object_type = ObjectType::none;
  std::string object;
  ObjectType reference_type = ObjectType::none;  // frame sensors: measured in this object's frame
  std::string reference;
  double cutoff = 0.0;  // 0: none
  int dimension = 0;    // of a user sensor
  std::string where;
};

struct KeyframeDescription {
  std::string name;
  double time = 0.0;
  std::vector<double> q, v, activation, control, kinematic_position, kinematic_rotation;
  std::string where;
};

// ------------------------------------------------------------------ the whole

// The fluid around the bodies: drag on each body's equivalent inertia box.
struct Medium {
  double density = 0.0;            // kg/m^3
  double viscosity = 0.0;          // Pa s
  Vector3 wind = Vector3::Zero();  // m/s
};

struct Description {
  std::string name;
  Vector3 gravity{0.0, 0.0, -9.81};  // m/s^2
  double timestep = 0.002;           // s
  Medium medium;
  Vector3 magnetic_flux{0.0, -0.5, 0.0};
  bool parent_child_contacts = false;  // contacts between a body and its parent, too

  // The world is not listed; elements that belong to it name the body "world".
  std::vector<BodyDescription> bodies;
  std::vector<FrameDescription> frames;
  std::vector<std::shared_ptr<const Mesh>> meshes;
  std::vector<std::shared_ptr<const HeightField>> height_fields;
  std::vector<GeometryDescription> geometries;
  std::vector<ContactPairDescription> contact_pairs;
  std::vector<ContactExclusion> contact_exclusions;
  std::vector<TendonDescription> tendons;
  std::vector<ActuatorDescription> actuators;
  std::vector<EqualityDescription> equalities;
  std::vector<SensorDescription> sensors;
  std::vector<KeyframeDescription> keyframes;
  std::vector<std::string> warnings;  // what the loader noticed and went on from
};

// Adds all of `part` to `whole`, with `prefix` before every name and its world placed at `pose` in
// the body `parent`. Gravity, timestep and medium stay those of `whole`; keyframes are not taken.
void attach(Description& whole, const Description& part, const std::string& prefix,
            const std::string& parent = "world", const Pose& pose = {});

}  // namespace articula
