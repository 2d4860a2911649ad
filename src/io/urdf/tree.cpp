#include <Eigen/Eigenvalues>

#include <algorithm>

#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

using Matrix4 = Eigen::Matrix4d;

int find_root(const Reader& reader) {
  std::vector<int> roots;
  for (std::size_t i = 0; i < reader.links.size(); ++i) {
    if (reader.links[i].parent_joint < 0) roots.push_back(static_cast<int>(i));
  }
  if (roots.empty()) {
    fail(reader.tree.root(),
         "every link is the child of some joint, so the joints form a circle; cut it open");
  }
  if (roots.size() > 1) {
    fail(reader.links[roots[1]].element,
         "both '{}' and '{}' are children of no joint, but a URDF is one tree; connect them, or give each "
         "robot "
         "a file of its own",
         reader.links[roots[0]].name, reader.links[roots[1]].name);
  }
  return roots.front();
}

bool is_massless(const Link& link) { return link.inertia.mass == 0.0 && link.inertia.inertia.isZero(0.0); }

// The pseudo-inertia J = [S h; h^T m], S = int x x^T dm: a change of frame T makes it T J T^T.
Matrix4 pseudo_inertia(const InertiaDescription& inertia) {
  const Matrix3& I = inertia.inertia;
  const Vector3 h = inertia.mass * inertia.com;
  Matrix4 J;
  J << 0.5 * I.trace() * Matrix3::Identity() - I + h * inertia.com.transpose(), h, h.transpose(),
      inertia.mass;
  return J;
}

Matrix4 homogeneous(const Pose& pose) {
  Matrix4 T = Matrix4::Identity();
  T.topLeftCorner<3, 3>() = pose.rotation.toRotationMatrix();
  T.topRightCorner<3, 1>() = pose.position;
  return T;
}

// Whether a joint at the origin of what it carries can move without moving any of it:  I = tr S 1 - S.
bool moves_nothing(const JointDescription& joint, const Matrix4& J) {
  constexpr double smallest = 1e-14;
  if (joint.type == JointType::slide) return std::abs(J(3, 3)) <= smallest;
  const Matrix3 S = J.topLeftCorner<3, 3>(), I = S.trace() * Matrix3::Identity() - S;
  const Vector3 a = joint.axis.normalized();
  if (joint.type == JointType::hinge) return std::abs(a.dot(I * a)) <= smallest;
  return std::abs(Eigen::SelfAdjointEigenSolver<Matrix3>(I, Eigen::EigenvaluesOnly).eigenvalues()[0]) <=
         smallest;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(Reader& reader) : reader_(reader) {}

  void build() {
    std::vector<int> pending{find_root(reader_)};
    std::vector<int> order;
    while (!pending.empty()) {
      const int index = pending.back();
      pending.pop_back();
      order.push_back(index);
      place(reader_.links[index]);
      const std::vector<int>& children = reader_.links[index].child_joints;
      for (auto joint = children.rbegin(); joint != children.rend(); ++joint) {
        pending.push_back(reader_.joints[*joint].child);
      }
    }
    require_all_reached(order);
    for (int index : order) add_geometries(reader_, reader_.links[index]);
    add_rotors();
  }

 private:
  void require_all_reached(const std::vector<int>& order) const {
    if (order.size() == reader_.links.size()) return;
    std::vector<bool> reached(reader_.links.size());
    for (int index : order) reached[index] = true;
    const auto lost = std::find(reached.begin(), reached.end(), false) - reached.begin();
    fail(reader_.links[lost].element, "the joints above this link form a circle; cut it open");
  }

  void place(Link& link) {
    const Joint* joint = link.parent_joint < 0 ? nullptr : &reader_.joints[link.parent_joint];
    std::string parent = "world";
    Pose pose;
    if (joint != nullptr) {
      const Link& above = reader_.links[joint->parent];
      parent = above.body;
      pose = above.pose * joint->origin;
    }
    const bool floats = joint == nullptr && reader_.options.floating_base;
    const bool fixed = joint == nullptr ? !floats : joint->motion == Motion::fixed;
    link.is_static = fixed && (joint == nullptr || reader_.links[joint->parent].is_static);
    const bool apart = stays_apart(link);
    if (fixed && link.name == "world" && joint == nullptr && !apart) {
      link.body = "world";
      return;
    }
    const bool merged = fixed && is_massless(link) && !apart;
    if (merged) {
      link.body = parent;
      link.pose = pose;
    } else {
      add_body(link, joint, parent, pose);
      if (joint != nullptr) exclude_neighbour(reader_.links[joint->parent], *joint, link);
    }
    if (fixed && is_massless(link)) add_frame(link);
  }

  static bool ties(const Joint& joint) {
    return joint.motion != Motion::fixed && joint.motion != Motion::floating;
  }

  // Exclusions name bodies: what is said of a link must not hold for what the link is fixed to, nor what is
  // said of that for the link.
  bool stays_apart(const Link& link) const {
    if (!link.collides) return false;
    if (!reader_.disabled_pairs.empty()) return true;
    return link.is_static && link.name != "world" &&
           std::any_of(link.child_joints.begin(), link.child_joints.end(),
                       [&](int child) { return ties(reader_.joints[child]); });
  }

  // Neighbours pass through each other. Between bodies that move that goes without saying; the world's own
  // neighbours are all that stands on it.
  void exclude_neighbour(const Link& above, const Joint& joint, const Link& link) {
    if (!ties(joint) || !above.is_static || !above.is_body || !above.collides || !link.collides) return;
    reader_.description.contact_exclusions.push_back({above.body, link.body, joint.element.label()});
  }

  void add_frame(const Link& link) {
    FrameDescription frame;
    frame.name = link.name;
    frame.body = link.body;
    frame.pose = link.pose;
    frame.where = link.element.label();
    reader_.description.frames.push_back(std::move(frame));
  }

  void add_body(Link& link, const Joint* joint, const std::string& parent, const Pose& pose) {
    BodyDescription body;
    body.name = link.name;
    if (body.name == "world") {
      body.name = "world_link";
      reader_.warn(link.element, "the name is taken by the world itself; the body is called 'world_link'");
    }
    body.where = link.element.label();
    body.parent = parent;
    body.pose = pose;
    body.inertia = link.inertia;
    const bool on_ground = parent == "world" || static_bodies_.contains(parent);
    if (joint == nullptr && reader_.options.floating_base) {
      body.joints.push_back(root_joint(link));
    } else if (joint != nullptr) {
      // Coordinates count from the joint's origin. Those of a free joint are along the world's axes, so it is
      // one where the origin is not turned.
      const Pose origin = parent == "world" ? pose : on_ground ? static_poses_.at(parent) * pose : Pose{};
      const bool turned = origin.rotation.vec().norm() > 1e-12;
      body.joints = make_joints(reader_, *joint, on_ground && !turned);
    }
    const bool free = !body.joints.empty() && body.joints.front().type == JointType::free;
    if (free && parent != "world") {
      body.pose = static_poses_.at(parent) * pose;
      body.parent = "world";
    }
    if (body.joints.empty() && on_ground) {
      static_bodies_.insert(body.name);
      static_poses_[body.name] = parent == "world" ? pose : static_poses_.at(parent) * pose;
    }
    link.body = body.name;
    link.pose = Pose{};
    link.is_body = true;
    reader_.description.bodies.push_back(std::move(body));
  }

  JointDescription root_joint(const Link& link) const {
    JointDescription joint;
    joint.type = JointType::free;
    joint.name = "root_joint";
    while (reader_.joint_index.contains(joint.name)) joint.name += "_";
    joint.where = link.element.label();
    return joint;
  }

  // A joint that carries nothing heavy, or only points on its axis, has no equation of motion; a rotor far
  // below what is measured gives it one.
  void add_rotors() {
    constexpr double rotor = 1e-10;
    std::unordered_map<std::string, Matrix4> carried;
    std::vector<BodyDescription>& bodies = reader_.description.bodies;
    for (std::size_t i = bodies.size(); i-- > 0;) {  // children come after their parents
      BodyDescription& body = bodies[i];
      const Matrix4 J =
          carried.try_emplace(body.name, Matrix4::Zero()).first->second + pseudo_inertia(body.inertia);
      const Matrix4 T = homogeneous(body.pose);
      carried.try_emplace(body.parent, Matrix4::Zero()).first->second += T * J * T.transpose();
      for (JointDescription& joint : body.joints) {
        if (!moves_nothing(joint, J)) continue;
        if (joint.type == JointType::free && J(3, 3) == 0.0) {
          throw Error(
              "{}: link '{}' floats freely, but neither it nor what it carries has mass; add an <inertial>",
              body.where, body.name);
        }
        joint.armature = rotor;
        reader_.warnings.add(fmt::format(
            "{}: joint '{}' moves no inertia; a rotor of {:g} kg m^2 (kg) is put on it so that its "
            "motion is defined: add an <inertial> to link '{}'",
            joint.where, joint.name, rotor, body.name));
      }
    }
  }

  Reader& reader_;
  std::set<std::string> static_bodies_;
  std::unordered_map<std::string, Pose> static_poses_;
};

}  // namespace

void build_tree(Reader& reader) { TreeBuilder(reader).build(); }

}  // namespace articula::urdf
