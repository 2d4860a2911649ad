#include <algorithm>

#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

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
    if (fixed && link.name == "world" && joint == nullptr) {
      link.body = "world";
    } else if (fixed && is_massless(link)) {
      link.body = parent;
      link.pose = pose;
      add_frame(link);
    } else {
      add_body(link, joint, parent, pose);
    }
  }

  void add_frame(const Link& link) {
    FrameDescription frame;
    frame.name = link.name;
    frame.body = link.body;
    frame.pose = link.pose;
    frame.where = link.element.where();
    reader_.description.frames.push_back(std::move(frame));
  }

  void add_body(Link& link, const Joint* joint, const std::string& parent, const Pose& pose) {
    BodyDescription body;
    body.name = link.name;
    if (body.name == "world") {
      body.name = "world_link";
      reader_.warn(link.element, "the name is taken by the world itself; the body is called 'world_link'");
    }
    body.where = link.element.where();
    body.parent = parent;
    body.pose = pose;
    body.inertia = link.inertia;
    const bool on_ground = parent == "world" || static_bodies_.contains(parent);
    if (joint == nullptr && reader_.options.floating_base) {
      body.joints.push_back(root_joint(link));
    } else if (joint != nullptr) {
      body.joints = make_joints(reader_, *joint, on_ground);
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
    reader_.description.bodies.push_back(std::move(body));
  }

  JointDescription root_joint(const Link& link) const {
    JointDescription joint;
    joint.type = JointType::free;
    joint.name = "root_joint";
    while (reader_.joint_index.contains(joint.name)) joint.name += "_";
    joint.where = link.element.where();
    return joint;
  }

  // A joint that carries nothing heavy has no equation of motion; a rotor far below what is measured gives it
  // one.
  void add_rotors() {
    constexpr double rotor = 1e-10;
    std::unordered_map<std::string, bool> heavy;
    std::vector<BodyDescription>& bodies = reader_.description.bodies;
    for (std::size_t i = bodies.size(); i-- > 0;) {
      BodyDescription& body = bodies[i];
      if (body.inertia.mass > 0.0 || !body.inertia.inertia.isZero(0.0)) heavy[body.name] = true;
      if (heavy[body.name]) heavy[body.parent] = true;
      if (heavy[body.name] || body.joints.empty()) continue;
      if (body.joints.front().type == JointType::free) {
        throw Error(
            "{}: <link name=\"{}\"> floats freely, but neither it nor what it carries has mass; add an "
            "<inertial>",
            body.where, body.name);
      }
      for (JointDescription& joint : body.joints) joint.armature = rotor;
      reader_.description.warnings.push_back(
          fmt::format("{}: joint '{}' moves no mass; a rotor of {:g} kg m^2 (kg) is put on it so that its "
                      "motion is defined: "
                      "add an <inertial> to link '{}'",
                      body.joints.back().where, body.joints.back().name, rotor, body.name));
    }
  }

  Reader& reader_;
  std::set<std::string> static_bodies_;
  std::unordered_map<std::string, Pose> static_poses_;
};

}  // namespace

void build_tree(Reader& reader) { TreeBuilder(reader).build(); }

}  // namespace articula::urdf
