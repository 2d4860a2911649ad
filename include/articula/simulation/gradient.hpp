#pragma once
// What derivatives of a simulation's step are asked for, and what they return (docs/gradients.md).
//
// With x = (q, v, activation) of n = 2nv + na numbers, positions in the tangent space. A gradient never
// changes the step it belongs to.

#include <cstdint>
#include <string_view>

#include "articula/derivatives/impulse.hpp"
#include "articula/model/parameters.hpp"

namespace articula {

enum class GradientMode : std::uint8_t {
  exact,                  // of the discrete step, its contacts as they were solved
  complementarity_aware,  // of two assignments of modes, that with the larger gradient (Nimble, IV-D);
                          // pullback
  elastic,           // bounces as in continuous time: the sooner it hits, the farther it gets (Nimble, VI)
  randomised,        // mean of exact ones around the state
  finite_difference  // of the true step, every evaluation from a cold start
};
std::string_view to_string(GradientMode mode);

struct GradientSettings {
  GradientMode mode = GradientMode::exact;
  // Which numbers of theta a pullback returns gradients of, e.g.
  // model.parameters().matching("body/*/inertia"); "timestep" stands for the step's dt.
  std::vector<ParameterSlice> parameters = {};

  // Jacobians, exact ones: which are wanted, and of what.
  bool controls = true;           // with respect to controls
  bool forces = false;            // with respect to forces on all degrees of freedom (Input::forces)
  bool velocities_alone = false;  // of v+ only: nv rows instead of n
  bool certificate = true;        // false: the certificate tells only whether they are valid

  // finite_difference: central ones, and to one side at the end of a parameter's range (one_sided)
  bool ridders = false;           // extrapolated (slow, to 1e-8), instead of one of second order
  double difference_step = 1e-6;  // finite_difference: of states and controls; relative for parameters;
                                  // Ridders' starts at a hundred times this

  int samples = 32;               // randomised: pairs x + d, x - d count as two
  double position_spread = 1e-3;  // randomised: standard deviations, m or rad
  double velocity_spread = 1e-2;  //   m/s or rad/s
  double control_spread = 1e-2;   //   of a control
  std::uint64_t seed = 1;         // randomised: equal seeds give equal results
};

struct StepJacobians {
  MatrixX by_state;    // n x n: dx+/dx
  MatrixX by_control;  // n x nu: dx+/du, or empty
  MatrixX by_force;    // n x nv: dx+/dforces, or empty
  GradientCertificate certificate;
};

// Of a loss with respect to the result of a step. What is left empty is zero.
struct StepCovector {
  VectorX q, v, activation;  // nv, nv, na
};

// Of the same loss with respect to what went in.
struct StepGradient {
  VectorX q, v, activation;  // nv, nv, na
  VectorX control;           // nu
  VectorX force;             // nv
  ExternalWrenches wrench;   // 6 x nbody, as Input::wrenches
  VectorX parameters;        // the slices of the settings, one after the other
  GradientCertificate certificate;
};

}  // namespace articula
