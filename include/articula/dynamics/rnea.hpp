#pragma once
// Inverse dynamics by the recursive Newton-Euler algorithm, O(N).

#include "articula/kinematics/motion.hpp"

namespace articula {

// Wrenches on bodies, one column each (6 x nbody, the world's column unused): force and torque in
// world axes, the force acting at the body's centre of mass (MuJoCo's xfrc_applied).
using ExternalWrenches = Matrix6X;

struct DynamicsOptions {
  const ExternalWrenches* external = nullptr;
  // Step h of the implicit gyroscopic term (docs/one_step.md); 0: the true equations of motion.
  double gyroscopic_step = 0.0;
};

// tau = M(q) a + c(q, v) - J^T f_external, armature included.
void rnea(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
          const ConstVectorRef& a, VectorRef tau, const DynamicsOptions& options = {});

// c(q, v): Coriolis, centrifugal and gravity forces; rnea at zero acceleration.
void bias_forces(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
                 VectorRef c, const DynamicsOptions& options = {});

// The stage of rnea that needs forward_kinematics, place_inertias and propagate_motion: link_force,
// summed over subtrees.
void gather_forces(const Model& model, Data& data, const DynamicsOptions& options);

// The wrench of `external` on all bodies of a link, about the tree's reference point.
Force external_wrench(const Model& model, const Data& data, const ExternalWrenches& external, int link);

}  // namespace articula
