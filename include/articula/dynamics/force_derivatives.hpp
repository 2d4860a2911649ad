#pragma once
// Derivatives of applied_forces: of tau, and of the slope that a step takes implicitly.
//
// Products along a direction and against a covector, O(N), with respect to q, v, activations, controls, dt
// (through activation_early) and theta; Jacobians with respect to q, v, activations and controls. Where a
// limit holds (control, activation or force range) the derivative is that of the limited side: zero.
// docs/derivatives.md has the formulas.

#include "articula/dynamics/forces.hpp"
#include "articula/dynamics/parameter_derivatives.hpp"

namespace articula {

// What moves a body relative to its parent, outwards in order: a slot of its placement or joints
// (parameter_derivatives.hpp), or a block of dofs.
struct Mover {
  int slot = -1;
  int dof_begin = 0, dof_end = 0;
};

// How a wrench that does not turn with its body differs, for a turn z, from one that does.
struct TurnRate {
  Mat3 moment, force;
};

struct ForceDerivativeWork {
  explicit ForceDerivativeWork(const Model& model);

  bool only_scalar = false;  // all actuators are on hinges and slides
  std::vector<Mover> movers;
  std::vector<int> mover_begin;  // nbody + 1
  // Of each frame transmission: the dofs that move the frame, and the reference frame, but not both.
  struct Sides {
    std::vector<int> frame, reference;
  };
  std::vector<Sides> sides;

  // ---- of one product. Along a direction: displacement of bodies and dofs, and what their velocity changes
  // by beyond turning along. Against a covector: the covectors of these.
  std::vector<Motion> displacement, change;         // nbody
  std::vector<Motion> dof_displacement;             // nv
  std::vector<Force> displacement_bar, change_bar;  // nbody
  std::vector<Force> dof_bar;                       // nv
  std::vector<Motion> path;                         // nbody: sum S y
  WrenchField field;
  // Wrenches on bodies that stay where they are in space (contact forces), while the robot moves under them.
  // If active, J^T of them counts as applied: set `own`, then hold_wrenches.
  WrenchField held;
  std::vector<Force> frame_wrench, frame_reaction;  // of the frame transmissions: changes
  VectorX length, velocity, input, raw, force;      // nu: changes, or covectors
  VectorX tendon_length, tendon_velocity;           // ntendon: likewise
  VectorX tendon_pull, tendon_drive, tendon_sum;    // ntendon
  VectorX scaled;                                   // nv

  // ---- of the Jacobians (force_jacobians.cpp): of the wrenches on a subtree, with its changes of velocity
  // and its turns, and what each dof makes of that
  VectorX arms;                               // nv
  std::vector<ArticulatedInertia> by_motion;  // nlink
  std::vector<TurnRate> by_turn;              // nlink
  std::vector<Force> dof_rate, dof_change;    // nv
  std::vector<Vec3> dof_turn;                 // nv
};

// Sums work.held.own over subtrees; false: there are none.
void hold_wrenches(const Model& model, ForceDerivativeWork& work, bool active);

// What applied_forces was called with.
struct ForceArguments {
  const double *q, *v, *activation, *u;
  double dt;
};

// Changes of all arguments; null: none.
struct ForceDirection {
  const double *q = nullptr, *v = nullptr, *activation = nullptr, *u = nullptr;
  double dt = 0.0;
  const double* theta = nullptr;
};

// dtau, dslope (nv each) along a direction. After applied_forces (which filled `forces`) and motion_rates;
// where theta changes, `parameters` from prepare_parameter_derivatives for the same state.
void forces_directional(const Model& model, const Data& data, const ForceWork& forces,
                        ForceDerivativeWork& work, const ForceArguments& at, const ParameterWork* parameters,
                        const ForceDirection& along, VectorRef dtau, VectorRef dslope);

// Where gradients are added; all but theta must be there.
struct ForceGradient {
  double *q = nullptr, *v = nullptr, *activation = nullptr, *u = nullptr;
  double dt = 0.0;
  double* theta = nullptr;
};

// Adds the gradient of  tau_bar . tau + slope_bar . slope  (nv each) to `to`.
void forces_adjoint(const Model& model, const Data& data, const ForceWork& forces, ForceDerivativeWork& work,
                    const ForceArguments& at, const ParameterWork* parameters, const ConstVectorRef& tau_bar,
                    const ConstVectorRef& slope_bar, ForceGradient& to);

// Adds scale dtau/dq and scale dtau/dv. Neither q nor v changes the slope.
void add_force_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                         ForceDerivativeWork& work, const ForceArguments& at, double scale,
                         StridedMatrices out);

// Adds scale d(tau - slope weight)/du (nv x nu) and .../dactivation (nv x na), `weight` (nv) held.
void add_force_input_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                               ForceDerivativeWork& work, const ForceArguments& at,
                               const ConstVectorRef& weight, double scale, RowMatrixRef by_control,
                               RowMatrixRef by_activation);

}  // namespace articula
