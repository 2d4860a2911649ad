#pragma once
// The smooth part of the residual of every step in minimal coordinates, and its derivatives. Per unit of
// force, with the acceleration a = (v+ - v) / h,
//
//   r(a; z) = rnea(q, v, a) - J^T wrenches + h slope a - tau(q, v, w, u) - forces - J^T f
//
// rnea takes the implicit gyroscopic torque, tau and slope are those of applied_forces, and f are contact
// forces (impulses / h), held in space at the points where they act. The impulse step's first residual is
// r1 = h r with v+ for its unknown, so that
//   dr1/dq = h dr/dq,    dr1/dv = h dr/dv - Mhat,    dr1/dh = h dr/dh - Mhat a    (at r = 0),
//   dr1/dv+ = dr/da = Mhat = M + h diag(slope)
// What moves the contact forces (their points and normals) is added by those who know the geometry.

#include "articula/dynamics/force_derivatives.hpp"
#include "articula/steppers/free_motion.hpp"

namespace articula {

// Where each input of a step is in the vector z of all of them. Positions in the tangent space; the step's dt
// is the parameter `timestep`, whatever the model's own.
struct StepInputs {
  explicit StepInputs(const Model& model);
  int q = 0, v = 0, activation = 0, control = 0, force = 0, wrench = 0, theta = 0, size = 0;
};

class SmoothResidual {
 public:
  explicit SmoothResidual(const Model& model);

  const StepInputs& inputs() const { return inputs_; }

  // Contact forces on bodies, about the reference points of their trees (data.link_reference): set, after
  // prepare, and then hold_forces. Without it there are none.
  std::vector<Force>& held_forces() { return forces_.held.own; }
  void hold_forces();

  // Ties the derivatives to the last free_velocity with these, at the acceleration a of the whole step. They
  // must outlive this or the next call.
  void prepare(const Model& model, Data& data, const FreeMotionWork& step, const StepSettings& settings,
               const ConstVectorRef& acceleration);

  void along(const ConstVectorRef& dz, VectorRef dr);  // dr = (dr/dz) dz, a held
  // z_bar -= (dr/dz)^T y; without `parameters`, nothing is computed for theta; without `held`, nothing for
  // the forces held.
  void against(const ConstVectorRef& y, VectorRef z_bar, bool parameters = true, bool held = true);
  // z_bar += sum over the dofs of weight times d(slope)/dz, of all inputs but theta.
  void slopes_against(const ConstVectorRef& weights, VectorRef z_bar);
  // Of the last y: sum S y over the path to each link.
  const std::vector<Motion>& path_motion() const { return rnea_.path_motion; }

  // Writes sign dr/dq and sign dr/dv where the tree joins dofs; the rest of the matrices must be zero.
  // Posed wrenches, if given, take the place of the forces held.
  void jacobians(double sign, StridedMatrices out, PosedWrenches* posed = nullptr);
  // Adds sign dr/dw (nv x na) and sign dr/du (nv x nu).
  void input_jacobians(double sign, RowMatrixRef by_activation, RowMatrixRef by_control);

 private:
  void prepare_parameters();
  void prepare_couplings();
  ForceArguments arguments() const;
  void add_wrenches_along(const double* dwrench, VectorRef dr);

  StepInputs inputs_;
  const Model* model_ = nullptr;
  Data* data_ = nullptr;
  const FreeMotionWork* step_ = nullptr;
  double h_ = 0.0;
  DynamicsOptions options_;
  bool parameters_ready_ = false, couplings_ready_ = false;

  RneaDerivativeWork rnea_;
  ParameterWork parameters_;
  ForceDerivativeWork forces_;
  VectorX acceleration_;                      // nv
  VectorX step_rate_;                         // nv: dr/dh through the implicit gyroscopic torque
  VectorX scratch_, scratch2_, tau_, slope_;  // nv
  std::vector<Force> subtree_;                // nlink
};

}  // namespace articula
