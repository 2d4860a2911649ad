#pragma once
// Derivatives of energies, centre of mass and momentum (energy.hpp) with respect to q and v, in the
// tangent space. Poses and twists of kinematic bodies are held. Every column costs a few products
// with sums over its subtree, so that Jacobians and products alike are O(N).

#include "articula/dynamics/energy.hpp"

namespace articula {

// Workspace, sized once from the model.
struct EnergyDerivativeWork {
  explicit EnergyDerivativeWork(const Model& model);

  std::vector<Inertia> composite;  // nlink: inertia of the subtree
  std::vector<Force> momentum;     // nlink: momentum of the subtree
  VectorX rotor_momentum;          // nv: armature times velocity
  VectorX spring_force;            // nv
  Vec3 centre, linear_momentum;    // of all moving links
  double inverse_mass = 0.0;       // of all moving links; 0 where there is no mass
};

// Fills the work; everything below needs it. After forward_kinematics, place_inertias,
// propagate_motion and motion_rates for (q, v).
void prepare_energy_derivatives(const Model& model, const Data& data, EnergyDerivativeWork& work,
                                const ConstVectorRef& q, const ConstVectorRef& v);

// Gradients, nv each. Potential and elastic energy do not depend on v.
void kinetic_energy_gradient(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             VectorRef by_q, VectorRef by_v);
void potential_energy_gradient(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                               VectorRef by_q);
void elastic_energy_gradient(const Model& model, const EnergyDerivativeWork& work, VectorRef by_q);

// Jacobians: of the centre of mass (3 x nv), and of momentum (linear, then angular about the centre of
// mass; 6 x nv). momentum = by_v * v where no kinematic body carries a tree.
void centre_of_mass_jacobian(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             Eigen::Ref<Matrix3X> by_q);
void momentum_derivatives(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          Eigen::Ref<Matrix6X> by_q, Eigen::Ref<Matrix6X> by_v);

// Along a direction.
Energy energy_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          const ConstVectorRef& dq, const ConstVectorRef& dv);
Vector3 centre_of_mass_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                                   const ConstVectorRef& dq);
Vector6 momentum_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             const ConstVectorRef& dq, const ConstVectorRef& dv);

// Against a covector: adds the transposed Jacobians times y. For energies y holds one weight each.
void add_energy_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                        const Energy& y, VectorRef q_bar, VectorRef v_bar);
void add_centre_of_mass_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                                const Vector3& y, VectorRef q_bar);
void add_momentum_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          const Vector6& y, VectorRef q_bar, VectorRef v_bar);

}  // namespace articula
