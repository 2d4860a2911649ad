#pragma once
// What a model asks of its motion beside contacts, compiled once: loops, couplings, limits, dry friction; and
// the kinematic trees on which all rows act.

#include "articula/model/data.hpp"

namespace articula {

// Links that hang together; a row of the constraint Jacobian is dense within a tree and acts on at most two.
struct Tree {
  int dof_begin = 0, dof_end = 0;
  int width() const { return dof_end - dof_begin; }
};

// A frame fixed on a link.
struct Anchor {
  int link = 0;
  Placement in_link;
};

struct EqualityConstraint {
  EqualityType type = EqualityType::connect;
  int index = 0;           // in the description
  Anchor first, second;    // connect: points that coincide; weld: frames that coincide
  int one = -1, two = -1;  // joints or tendons; two may be -1
  std::array<double, 5> polynomial{};
  double reference_one = 0.0, reference_two = 0.0;
  double torque_scale = 1.0;
};

struct Constraints {
  // Throws Error if a tendon or coupling acts on more than two trees.
  explicit Constraints(const Model& model);
  // The numbers of a variant (model.with) of the model it was made for.
  void set_numbers(const Model& variant);

  std::vector<Tree> trees;
  std::vector<int> tree_of_link;  // -1: does not move by joints
  std::vector<EqualityConstraint> equalities;
  std::vector<int> dry_dofs, dry_tendons;
  std::vector<int> limited_joints, limited_tendons;

 private:
  void compile_equalities(const Model& model);
};

}  // namespace articula
