#include "articula/contact/constraints.hpp"

#include <algorithm>

#include "articula/error.hpp"
#include "articula/kinematics/forward.hpp"

namespace articula {

namespace {

int tendon_index(const Model& model, const std::string& name) {
  const auto& tendons = model.structure().tendons;
  for (size_t t = 0; t < tendons.size(); ++t) {
    if (tendons[t].name == name) return static_cast<int>(t);
  }
  return -1;
}

Placement inverse(const Placement& placement) {
  const Mat3 back = transpose(placement.R);
  return {back, -(back * placement.p)};
}

Placement link_placement(const Data& data, int link) {
  return {data.link_R[link], data.link_reference[link] + data.link_r[link]};
}

// The frame of the world in which the constraint holds in the pose as described, fixed to both bodies.
void anchor_bodies(const Model& model, const Data& neutral, const EqualityDescription& described,
                   EqualityConstraint& equality) {
  const Structure& s = model.structure();
  const int first = model.body(described.first);
  const int second = described.second.empty() ? 0 : model.body(described.second);
  equality.first.link = s.bodies[first].link;
  equality.second.link = s.bodies[second].link;
  const Placement at_first = body_placement(model, neutral, first);
  const Placement at_second = body_placement(model, neutral, second);
  Placement meets_first, meets_second;  // in the world
  if (described.type == EqualityType::connect) {
    meets_first = {Mat3::identity(), at_first * Vec3(described.anchor)};
    meets_second =
        described.anchor2 ? Placement{Mat3::identity(), at_second * Vec3(*described.anchor2)} : meets_first;
  } else {
    // The point `anchor` of the second body, and the first body's pose that puts the second where it should
    // be.
    meets_second = {at_second.R, at_second * Vec3(described.anchor)};
    const Placement wanted =
        described.relative_pose ? at_first * placement_of(*described.relative_pose) : at_second;
    meets_first = {wanted.R, wanted * Vec3(described.anchor)};
  }
  equality.first.in_link = inverse(link_placement(neutral, equality.first.link)) * meets_first;
  equality.second.in_link = inverse(link_placement(neutral, equality.second.link)) * meets_second;
}

EqualityConstraint compile(const Model& model, const Data& neutral, int index) {
  const EqualityDescription& described = model.description().equalities[index];
  EqualityConstraint equality;
  equality.type = described.type;
  equality.index = index;
  equality.polynomial = described.polynomial;
  equality.torque_scale = described.torque_scale;
  if (described.type == EqualityType::connect || described.type == EqualityType::weld) {
    anchor_bodies(model, neutral, described, equality);
    return equality;
  }
  const Structure& s = model.structure();
  const auto find = [&](const std::string& name, int& element, double& reference) {
    if (name.empty()) return;
    if (described.type == EqualityType::joint) {
      element = model.joint(name);
      reference = model.neutral_configuration()[s.joints[element].q];
      return;
    }
    element = tendon_index(model, name);
    const double* c = model.theta().data() + s.tendons[element].coefficients;
    for (int j : s.tendons[element].joints) reference += *c++ * model.neutral_configuration()[s.joints[j].q];
  };
  find(described.first, equality.one, equality.reference_one);
  find(described.second, equality.two, equality.reference_two);
  return equality;
}

void find_trees(const Structure& s, Constraints& c) {
  c.tree_of_link.assign(s.links.size(), -1);
  for (size_t k = 1; k < s.links.size(); ++k) {
    const LinkIndex& link = s.links[k];
    if (link.dof_begin == link.dof_end) continue;
    if (link.root) {
      c.tree_of_link[k] = static_cast<int>(c.trees.size());
      c.trees.push_back({link.dof_begin, link.dof_end});
    } else {
      c.tree_of_link[k] = c.tree_of_link[link.parent];
      c.trees.back().dof_end = std::max(c.trees.back().dof_end, link.dof_end);
    }
  }
}

void require_two_trees(const Structure& s, const Constraints& c, int tendon) {
  int first = -1, second = -1;
  for (int j : s.tendons[tendon].joints) {
    const int tree = c.tree_of_link[s.joints[j].link];
    if (tree == first || tree == second) continue;
    if (second >= 0)
      throw Error(
          "tendon '{}' has a limit or friction and acts on more than two separate mechanisms, which is not "
          "supported",
          s.tendons[tendon].name);
    (first < 0 ? first : second) = tree;
  }
}

}  // namespace

// Where bodies are joined is read off the robot as described: variants (model.with) keep it.
void Constraints::compile_equalities(const Model& model) {
  const Description& d = model.description();
  const Model described(model.shared_structure(), model.structure().described_theta);
  Data neutral(described);
  forward_kinematics(described, neutral, described.neutral_configuration());
  for (size_t i = 0; i < d.equalities.size(); ++i) {
    if (d.equalities[i].active) equalities.push_back(compile(described, neutral, static_cast<int>(i)));
  }
}

Constraints::Constraints(const Model& model) {
  const Structure& s = model.structure();
  const Description& d = model.description();
  find_trees(s, *this);
  if (!d.equalities.empty()) compile_equalities(model);
  for (size_t j = 0; j < s.joints.size(); ++j) {
    if (s.joints[j].range >= 0) limited_joints.push_back(static_cast<int>(j));
  }
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    if (!d.tendons[t].range) continue;
    limited_tendons.push_back(static_cast<int>(t));
    require_two_trees(s, *this, static_cast<int>(t));
  }
  dry_dofs.reserve(s.nv);
  dry_tendons.reserve(s.tendons.size());
  set_numbers(model);
}

void Constraints::set_numbers(const Model& variant) {
  const Structure& s = variant.structure();
  dry_dofs.clear();
  for (int i = 0; i < s.nv; ++i) {
    if (variant.constants().dry_friction[i] > 0.0) dry_dofs.push_back(i);
  }
  dry_tendons.clear();
  for (size_t t = 0; t < s.tendons.size(); ++t) {
    if (!(variant.theta()[s.tendons[t].dry_friction] > 0.0)) continue;
    dry_tendons.push_back(static_cast<int>(t));
    require_two_trees(s, *this, static_cast<int>(t));
  }
}

}  // namespace articula
