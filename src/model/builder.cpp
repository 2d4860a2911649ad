#include "articula/model/builder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "articula/error.hpp"
#include "registration.hpp"
#include "validation.hpp"

namespace articula {

namespace {

// Bodies and joints without a name get "body_3", "joint_7": whatever is still free.
void fill_names(Description& d) {
  std::unordered_set<std::string> bodies{"world"}, joints;
  for (const BodyDescription& body : d.bodies) {
    bodies.insert(body.name);
    for (const JointDescription& joint : body.joints) joints.insert(joint.name);
  }
  const auto fill = [](std::string& name, const char* kind, size_t number, auto& taken) {
    if (!name.empty()) return;
    do name = fmt::format("{}_{}", kind, number++);
    while (!taken.insert(name).second);
  };
  size_t body_number = 1, joint_number = 0;
  for (BodyDescription& body : d.bodies) {
    fill(body.name, "body", body_number++, bodies);
    for (JointDescription& joint : body.joints) fill(joint.name, "joint", joint_number++, joints);
  }
}

// Depth-first order, children in the order given. What is not reached hangs on a cycle.
void sort_depth_first(Description& d) {
  std::unordered_map<std::string, std::vector<size_t>> children;
  for (size_t i = 0; i < d.bodies.size(); ++i) children[d.bodies[i].parent].push_back(i);

  std::vector<size_t> order, waiting;
  const auto push_children = [&](const std::string& name) {
    const auto found = children.find(name);
    if (found == children.end()) return;
    waiting.insert(waiting.end(), found->second.rbegin(), found->second.rend());
  };
  push_children("world");
  while (!waiting.empty()) {
    const size_t i = waiting.back();
    waiting.pop_back();
    order.push_back(i);
    push_children(d.bodies[i].name);
  }
  if (order.size() != d.bodies.size()) {
    std::vector<bool> reached(d.bodies.size(), false);
    for (size_t i : order) reached[i] = true;
    for (size_t i = 0; i < d.bodies.size(); ++i) {
      if (reached[i]) continue;
      throw Error(fmt::format("{}{}body '{}' is its own ancestor (a cycle of parents through '{}')",
                              d.bodies[i].where, d.bodies[i].where.empty() ? "" : ": ", d.bodies[i].name,
                              d.bodies[i].parent));
    }
  }
  std::vector<BodyDescription> sorted;
  sorted.reserve(order.size());
  for (size_t i : order) sorted.push_back(std::move(d.bodies[i]));
  d.bodies = std::move(sorted);
}

LinkKind link_kind(const std::vector<JointDescription>& joints) {
  if (joints.size() != 1) return LinkKind::several;
  switch (joints[0].type) {
    case JointType::hinge: return LinkKind::hinge;
    case JointType::slide: return LinkKind::slide;
    case JointType::free: return LinkKind::free;
    default: return LinkKind::several;
  }
}

int dofs_of(JointType type) {
  switch (type) {
    case JointType::fixed: return 0;
    case JointType::hinge:
    case JointType::slide: return 1;
    case JointType::ball: return 3;
    case JointType::free: return 6;
  }
  return 0;
}

void add_dofs(Structure& s, const JointIndex& joint, int joint_index, int& last_dof) {
  const int begin = s.nv, count = dofs_of(joint.type);
  // The three turning degrees of freedom of a ball move with the child: they form one block. Those
  // of a free joint follow its three slides.
  const int ball_begin = joint.type == JointType::ball   ? begin
                         : joint.type == JointType::free ? begin + 3
                                                         : begin + count;
  for (int d = begin; d < begin + count; ++d) {
    DofIndex dof;
    dof.joint = joint_index;
    dof.link = joint.link;
    dof.parent = last_dof;
    dof.depth = last_dof < 0 ? 0 : s.dofs[last_dof].depth + 1;
    dof.block_begin = d >= ball_begin ? ball_begin : d;
    dof.block_end = d >= ball_begin ? begin + count : d + 1;
    s.dofs.push_back(dof);
    last_dof = d;
  }
  s.nv += count;
}

void add_link(Structure& s, const BodyDescription& body, int body_index, int parent_link,
              std::vector<int>& last_dof_of_link) {
  LinkIndex link;
  const int link_index = static_cast<int>(s.links.size());
  link.kind = body.kinematic ? LinkKind::kinematic : link_kind(body.joints);
  link.parent = parent_link;
  link.body = body_index;
  const LinkKind parent_kind = s.links[parent_link].kind;
  link.root = parent_kind == LinkKind::world || parent_kind == LinkKind::kinematic;
  link.joint_begin = static_cast<int>(s.joints.size());
  link.dof_begin = s.nv;
  int last_dof = last_dof_of_link[parent_link];
  for (const JointDescription& described : body.joints) {
    JointIndex joint;
    joint.name = described.name;
    joint.type = described.type;
    joint.link = link_index;
    joint.body = body_index;
    joint.q = s.nq;
    joint.dof = s.nv;
    if (joint.type == JointType::hinge) {
      joint.angle = s.nhinge++;
      s.hinge_joints.push_back(static_cast<int>(s.joints.size()));
    }
    add_dofs(s, joint, static_cast<int>(s.joints.size()), last_dof);
    const bool has_quaternion = joint.type == JointType::ball || joint.type == JointType::free;
    s.nq += dofs_of(joint.type) + (has_quaternion ? 1 : 0);
    s.joints.push_back(joint);
  }
  link.joint_end = static_cast<int>(s.joints.size());
  link.dof_end = s.nv;
  s.links.push_back(link);
  last_dof_of_link.push_back(last_dof);
}

// Bodies become links where they have joints (or are moved by the user), and join their parent's
// link where they have none.
void number_links(Structure& s) {
  const Description& d = *s.description;
  std::unordered_map<std::string, int> index{{"world", 0}};
  s.bodies.push_back({.name = "world"});
  s.links.push_back({.kind = LinkKind::world, .bodies = {0}});
  std::vector<int> last_dof_of_link{-1};

  for (const BodyDescription& described : d.bodies) {
    const int body_index = static_cast<int>(s.bodies.size());
    BodyIndex body;
    body.name = described.name;
    body.parent = index.at(described.parent);
    body.gravity_compensation = described.gravity_compensation;
    if (described.kinematic) body.kinematic = s.nkinematic++;
    const int parent_link = s.bodies[body.parent].link;
    if (described.joints.empty() && !described.kinematic) {
      body.link = parent_link;
    } else {
      body.link = static_cast<int>(s.links.size());
      add_link(s, described, body_index, parent_link, last_dof_of_link);
    }
    s.links[body.link].bodies.push_back(body_index);
    index.emplace(described.name, body_index);
    s.bodies.push_back(std::move(body));
  }
}

// One number per ancestor of d and d itself, padded to whole registers.
int row_length(const DofIndex& dof) { return (dof.depth + 1 + 3) / 4 * 4; }

// Rows grow with the square of a chain's length: some hundred megabytes at the most.
void require_room_for_rows(const Structure& s) {
  constexpr std::size_t most = 50'000'000;
  std::size_t numbers = 0;
  for (const DofIndex& dof : s.dofs) {
    numbers += static_cast<std::size_t>(row_length(dof));
    if (numbers <= most) continue;
    const std::string& where = s.description->bodies[s.joints[dof.joint].body - 1].where;
    throw Error(
        "{}{}joint '{:.100}' hangs on {} degrees of freedom; chains of 10000 are computed: shorten it", where,
        where.empty() ? "" : ": ", s.joints[dof.joint].name, dof.depth);
  }
}

// Ends of subtrees, and the rows of tree-sparse matrices: row d holds one number per ancestor of d
// and d itself, root first.
void index_subtrees(Structure& s) {
  const int nlink = static_cast<int>(s.links.size());
  for (int k = nlink - 1; k >= 0; --k) {
    LinkIndex& link = s.links[k];
    link.subtree_end = std::max(link.subtree_end, k + 1);
    if (k == 0) break;
    LinkIndex& parent = s.links[link.parent];
    parent.subtree_end = std::max(parent.subtree_end, link.subtree_end);
  }
  for (int d = s.nv - 1; d >= 0; --d) {
    DofIndex& dof = s.dofs[d];
    dof.subtree_end = std::max(dof.subtree_end, d + 1);
    if (dof.parent < 0) continue;
    DofIndex& parent = s.dofs[dof.parent];
    parent.subtree_end = std::max(parent.subtree_end, dof.subtree_end);
  }
  require_room_for_rows(s);
  for (int d = 0; d < s.nv; ++d) {
    DofIndex& dof = s.dofs[d];
    dof.row = s.sparse_size;
    s.sparse_size += row_length(dof);
    s.path.resize(s.sparse_size, 0);
    int ancestor = d;
    for (int depth = dof.depth; depth >= 0; --depth) {
      s.path[dof.row + depth] = ancestor;
      ancestor = s.dofs[ancestor].parent;
    }
  }
}

}  // namespace

Model build(Description description) {
  for (BodyDescription& body : description.bodies) {
    std::erase_if(body.joints, [](const auto& j) { return j.type == JointType::fixed; });
  }
  fill_names(description);
  validate(description);
  sort_depth_first(description);

  auto structure = std::make_shared<Structure>();
  structure->description = std::make_shared<const Description>(std::move(description));
  number_links(*structure);
  index_subtrees(*structure);
  VectorX theta = register_parameters(*structure);
  structure->described_theta = theta;
  Model model(std::move(structure), std::move(theta));
  require_moving_inertia(model);
  return model;
}

}  // namespace articula
