#pragma once
// The workspace of one thread. Every field says its shape and the function that fills it; nothing is
// allocated after construction.
//
// Spatial quantities are in world axes. Unless they say otherwise they are about the reference point
// of the link's tree, the origin of its root link; those called local are about the origin of their
// own link, where inertias of far links do not drown in m r^2. Each is valid for the arguments of
// the call that filled it.

#include <vector>

#include "articula/model/model.hpp"

namespace articula {

using AlignedVector = std::vector<double, Eigen::aligned_allocator<double>>;

// Symmetric 6x6 inertia of a link with everything behind it free to move (aba.cpp):
//   moment = rotational w + coupling^T v,  force = coupling w + linear v
struct ArticulatedInertia {
  Mat3 rotational, coupling, linear;
};

struct Data {
  explicit Data(const Model& model);

  // ---- set by the user: poses and twists of kinematic bodies (nkinematic)
  std::vector<Placement> kinematic_pose;
  std::vector<Motion> kinematic_twist;  // angular and linear velocity of the body's origin, world
  std::vector<bool> kinematic_placed;   // a step: the pose is the placement among the parameters

  // ---- position: forward_kinematics(q)
  AlignedVector angle, sine, cosine;  // nhinge, padded to 4
  std::vector<Mat3> link_R;           // nlink: axes in the world
  std::vector<Vec3> link_r;           // nlink: origin from the tree's reference point
  std::vector<Vec3> link_reference;   // nlink: reference point of its tree, in the world
  std::vector<Motion> S;              // nv: motion of everything behind dof d per unit velocity
  std::vector<Motion> S_local;        // nv: the same about the origin of the dof's link

  // ---- inertia: rotate_inertias, place_inertias, after forward_kinematics
  std::vector<Inertia> local_inertia;  // nlink: local
  std::vector<Inertia> link_inertia;   // nlink

  // ---- velocity and acceleration: rnea
  std::vector<Motion> link_v;     // nlink: velocity
  std::vector<Motion> link_a;     // nlink: acceleration minus gravity
  std::vector<Force> link_force;  // nlink: force through the link's joints, subtree summed

  // ---- mass matrix: crba, factor_mass_matrix
  std::vector<Inertia> composite;  // nlink: local inertia of the subtree, rigid
  std::vector<Force> dof_force;    // nv: local, composite inertia times S
  AlignedVector mass;              // sparse rows (Structure::path): M
  AlignedVector factor;            // sparse rows: L of M = L^T D L, unit diagonal left out
  VectorX inverse_diagonal;        // nv: 1 / D

  // ---- forward dynamics: aba, all local
  std::vector<Motion> aba_v, aba_a;             // nlink: velocity, acceleration minus gravity
  std::vector<Motion> aba_bias;                 // nlink: velocity-product acceleration
  std::vector<ArticulatedInertia> articulated;  // nlink
  std::vector<Force> articulated_bias;          // nlink
  std::vector<Force> dof_U;                     // nv: articulated inertia times S
  VectorX dof_inverse_D, dof_u;                 // nv

  // ---- how the motions of dofs change: motion_rates, after propagate_motion
  std::vector<Motion> dof_v, dof_a;  // nv: of what the dof's block hangs on
  std::vector<Motion> psi_dot;       // nv: dof_v x S
  std::vector<Motion> S_dot;         // nv: dS/dt (differs from psi_dot in balls)
};

}  // namespace articula
