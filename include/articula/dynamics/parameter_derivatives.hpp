#pragma once
// Derivatives of inverse dynamics with respect to the numbers of the model: inertias, placements of
// bodies, axes and anchors of joints, armature, gravity. Products with a vector, O(N) each; a column
// of the Jacobian is the product with a unit vector.
//
// A change of placement moves what hangs behind it as a joint would: it is a virtual joint, called a
// slot. Turning a joint's axis is a turn before the joint and the opposite turn after it; shifting
// its anchor likewise. docs/derivatives.md has the derivation.

#include "articula/dynamics/rnea_derivatives.hpp"

namespace articula {

// A place in the chain of transformations where a virtual twist can be inserted.
struct Slot {
  enum class Kind { placement, before_joint, after_joint };
  Kind kind = Kind::placement;
  int joint = -1;
  Motion v, a;      // of what the slot hangs on (a minus gravity)
  Mat3 shift_axes;  // world axes of the coordinates of a shift
  Mat3 turn_axes;   // and of a turn
  Vec3 point;       // about which a turn goes, from the reference point
};

struct ParameterWork {
  explicit ParameterWork(const Model& model);

  std::vector<Slot> slots;                 // of all bodies, in order
  std::vector<int> slot_begin;             // nbody + 1
  std::vector<Inertia> inertia;            // nbody: own
  std::vector<VelocityCoupling> coupling;  // nbody: own
  std::vector<VelocityCoupling> external;  // nbody: own; not the common one of a link
  std::vector<Force> force;                // nbody: of the subtree of bodies
  // Sums along paths and over subtrees of bodies, of one product.
  std::vector<Motion> path_motion;
  std::vector<Vec3> path_w, path_z;
  std::vector<Motion> path_weld;  // displacement relative to the own link
  std::vector<Force> subtree_force;
  std::vector<Vec3> subtree_w, subtree_z;
};

// Fills `work` for the state of the last prepare_rnea_products with the same arguments.
void prepare_parameter_derivatives(const Model& model, Data& data, ParameterWork& work,
                                   const ConstVectorRef& q, const DynamicsOptions& options);

// dtau = (dtau/dtheta) dtheta; entries of dtheta that inverse dynamics does not depend on have no effect.
void rnea_parameter_directional(const Model& model, const Data& data, ParameterWork& work,
                                const ConstVectorRef& a, const DynamicsOptions& options,
                                const ConstVectorRef& dtheta, VectorRef dtau);

// theta_bar += (dtau/dtheta)^T y
void rnea_parameter_adjoint(const Model& model, const Data& data, ParameterWork& work,
                            const ConstVectorRef& a, const DynamicsOptions& options, const ConstVectorRef& y,
                            VectorRef theta_bar);

// Y with  tau = Y pi + armature a  (no external wrenches, true gyroscopic terms); pi: the inertial
// numbers of all bodies in order. Y is nv x 10 nbody. After rnea.
void inertial_regressor(const Model& model, const Data& data, MatrixRef Y);

}  // namespace articula
