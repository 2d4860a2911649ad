#include <Eigen/Eigenvalues>

#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace {

Matrix3 read_matrix(const Element& element) {
  Matrix3 I = Matrix3::Identity();
  struct Entry {
    const char* name;
    int row, column;
  };
  for (const auto& [name, row, column] : {Entry{"ixx", 0, 0}, Entry{"iyy", 1, 1}, Entry{"izz", 2, 2},
                                          Entry{"ixy", 0, 1}, Entry{"ixz", 0, 2}, Entry{"iyz", 1, 2}}) {
    read(element, name, I(row, column));
    I(column, row) = I(row, column);
  }
  return I;
}

// One kilogram and moments of one where nothing is said.
InertiaDescription read_inertial(Reader& reader, const Element& link) {
  InertiaDescription inertia{1.0, Vector3::Zero(), Matrix3::Identity(), std::nullopt};
  const Element element = child_of(link, "inertial");
  if (!element.node) return inertia;
  if (element.text("auto") == "true") {
    fail(element, "auto=\"true\" is not supported; write <mass> and <inertia>");
  }
  if (child_of(element, "fluid_added_mass").node) {
    fail(child_of(element, "fluid_added_mass"),
         "added mass is not supported, and leaving it out would change the motion");
  }
  read(element, "mass", inertia.mass);
  if (inertia.mass < 0.0) fail(element, "<mass> is {}; it cannot be negative", inertia.mass);
  const Pose pose = read_pose(element, nullptr);
  const Element matrix = child_of(element, "inertia");
  const Matrix3 R = pose.rotation.toRotationMatrix();
  const Matrix3 I = R * (matrix.node ? read_matrix(matrix) : Matrix3(Matrix3::Identity())) * R.transpose();
  inertia.com = pose.position;
  inertia.inertia = 0.5 * (I + I.transpose());
  const Vector3 m =
      Eigen::SelfAdjointEigenSolver<Matrix3>(inertia.inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const bool real = inertia.mass > 0.0 && m[0] >= -1e-9 * m[2] && m[0] + m[1] >= m[2] * (1.0 - 1e-6);
  if (!real && !inertia.inertia.isZero(0.0)) {
    inertia.as_given = true;
    reader.warn(element,
                fmt::format("no real body of {:g} kg has principal moments {:.6g}, {:.6g}, {:.6g}; they are "
                            "taken as they are",
                            inertia.mass, m[0], m[1], m[2]));
  }
  return inertia;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(Reader& reader) : reader_(reader), visited_(reader.links.size()) {}

  void build() {
    children_.resize(reader_.links.size());
    for (std::size_t i = 0; i < reader_.links.size(); ++i) {
      Link& link = reader_.links[i];
      if (is_static(link)) link.tree_joint = -1;
      const int parent = link.tree_joint < 0 ? -1 : joint(link.tree_joint).parent;
      if (parent >= 0) children_[static_cast<std::size_t>(parent)].push_back(i);
    }
    for (std::size_t i = 0; i < reader_.links.size(); ++i) {
      const Link& link = reader_.links[i];
      if (link.tree_joint < 0 || joint(link.tree_joint).parent < 0) visit(i);
    }
    for (std::size_t i = 0; i < reader_.links.size(); ++i) {  // what is left hangs on a circle: cut it here
      if (visited_[i]) continue;
      reader_.links[i].tree_joint = -1;
      visit(i);
    }
    for (std::size_t j = 0; j < reader_.joints.size(); ++j) add_constraints(static_cast<int>(j));
  }

 private:
  bool is_static(const Link& link) const {
    return reader_.scopes[static_cast<std::size_t>(link.scope)].is_static;
  }
  const Joint& joint(int index) const { return reader_.joints[static_cast<std::size_t>(index)]; }

  void visit(std::size_t root) {
    std::vector<std::size_t> pending{root};
    while (!pending.empty()) {
      const std::size_t i = pending.back();
      pending.pop_back();
      if (visited_[i]) continue;
      visited_[i] = true;
      add_body(reader_.links[i]);
      pending.insert(pending.end(), children_[i].rbegin(), children_[i].rend());
    }
  }

  void add_body(Link& link) {
    BodyDescription body;
    body.name = link.name;
    body.where = link.element.label();
    body.inertia = read_inertial(reader_, link.element);
    body.pose = pose_of(reader_, link.frame);
    if (link.tree_joint >= 0) {
      const Joint& moving = joint(link.tree_joint);
      body.joints = make_joints(reader_, moving);
      if (moving.parent >= 0) {
        const Link& parent = reader_.links[static_cast<std::size_t>(moving.parent)];
        body.parent = parent.name;
        body.pose = inverse(pose_of(reader_, parent.frame)) * body.pose;
      }
    } else if (!is_static(link)) {
      JointDescription free;
      free.type = JointType::free;
      free.name = link.name + "_free";
      free.where = body.where;
      body.joints.push_back(std::move(free));
    }
    bool gravity = true, kinematic = false;
    if (read(link.element, "gravity", gravity) && !gravity) body.gravity_compensation = 1.0;
    if (read(link.element, "kinematic", kinematic) && kinematic) {
      fail(child_of(link.element, "kinematic"), "kinematic links are not supported; make the model static");
    }
    reader_.description.bodies.push_back(std::move(body));
    add_geometries(reader_, link);
  }

  void add_constraints(int index) {
    const Joint& j = joint(index);
    const Link& child = reader_.links[static_cast<std::size_t>(j.child)];
    if (child.tree_joint == index) return add_mimics(reader_, j);
    const bool parent_static = j.parent < 0 || is_static(reader_.links[static_cast<std::size_t>(j.parent)]);
    if (is_static(child) && parent_static) return;
    close_loop(reader_, j);
  }

  Reader& reader_;
  std::vector<bool> visited_;
  std::vector<std::vector<std::size_t>> children_;
};

void add_frames(Reader& reader) {
  for (const Frame& frame : reader.frames) {
    const int link = link_of(reader, frame.element, frame.frame);
    FrameDescription described;
    described.name = frame.name;
    described.where = frame.element.label();
    described.pose = pose_of(reader, frame.frame);
    if (link >= 0) {
      const Link& holder = reader.links[static_cast<std::size_t>(link)];
      described.body = holder.name;
      described.pose = inverse(pose_of(reader, holder.frame)) * described.pose;
    }
    reader.description.frames.push_back(std::move(described));
  }
}

// Links of one model pass through each other unless one of the two says otherwise.
void exclude_own_contacts(Reader& reader) {
  std::map<std::string, std::vector<const Link*>> models;  // by the name of the outermost
  for (const Link& link : reader.links) {
    if (child_of(link.element, "collision").node) {
      models[link.frame.substr(0, link.frame.find("::"))].push_back(&link);
    }
  }
  constexpr std::size_t most_pairs = 500'000;
  for (const auto& [name, links] : models) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      for (std::size_t k = i + 1; k < links.size(); ++k) {
        if (links[i]->self_collide || links[k]->self_collide) continue;
        reader.description.contact_exclusions.push_back(
            {links[i]->name, links[k]->name, links[i]->element.label()});
        if (reader.description.contact_exclusions.size() > most_pairs) {
          fail(links[i]->element,
               "model '{}' has more than {} pairs of links that must not collide; set self_collide", name,
               most_pairs);
        }
      }
    }
  }
}

}  // namespace

void build_tree(Reader& reader) {
  TreeBuilder(reader).build();
  add_frames(reader);
  exclude_own_contacts(reader);
}

}  // namespace articula::sdf
