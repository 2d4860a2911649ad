#pragma once
// The derivatives of the terms of force_terms.hpp that are numbers along actuators and tendons. Along: fields
// of ForceDerivativeWork hold changes; against: covectors, and the stages run in reverse.

#include "displacements.hpp"

namespace articula {

// ---- transmission_derivatives.cpp: length and velocity of actuators on joints and tendons; their forces on
// joints (`actuator`, nv, before the joints' limits) and tendons (tendon_drive)
void measure_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const ForceArguments& at, const ForceDirection& along);
void measure_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const ForceArguments& at, ForceGradient& to);
void transmit_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                    const ForceArguments& at, const ForceDirection& along, double* actuator);
void transmit_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                      const ForceArguments& at, const double* actuator_bar, ForceGradient& to);

// ---- tendon_derivatives.cpp
void tendons_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const ForceArguments& at, const ForceDirection& along);
void tendons_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const ForceArguments& at, ForceGradient& to);
void add_tendons_along(const Model& model, const ForceWork& forces, const ForceDerivativeWork& work,
                       const ForceDirection& along, double* passive, double* actuator);
void add_tendons_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                         const double* passive_bar, const double* actuator_bar, ForceGradient& to);
// -d(pull)/dl of a tendon's spring
double spring_rate(const Model& model, const ForceWork& forces, int tendon);

// ---- actuator_derivatives.cpp: inputs, raw forces, forces within limits, slopes
void inputs_along(const Model& model, ForceDerivativeWork& work, const ForceArguments& at,
                  const ForceDirection& along);
void inputs_against(const Model& model, const ForceDerivativeWork& work, const ForceArguments& at,
                    ForceGradient& to);
void actuators_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                     const double* dtheta);
// From work.force (covectors of forces) to those of length, velocity and input (added to), and of theta.
void actuators_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                       double* theta_bar);
void slope_along(const Model& model, const ForceWork& forces, const ForceDerivativeWork& work,
                 const double* dtheta, double* dslope);
void slope_against(const Model& model, const ForceWork& forces, ForceDerivativeWork& work,
                   const double* slope_bar, double* theta_bar);
// All of it in one pass, from covectors of tau and slope: where all actuators are on hinges and slides, and
// without theta.
void scalar_actuators_against(const Model& model, const ForceWork& forces, const ForceArguments& at,
                              const double* tau_bar, const double* slope_bar, ForceGradient& to);
// d(clamped scaled raw forces) for changes in work.raw, into work.force
void limit_along(const Model& model, const ForceWork& forces, ForceDerivativeWork& work);

struct InputRates {
  double by_activation = 0.0, by_control = 0.0, by_dt = 0.0;
};
InputRates input_rates(const Model& model, int actuator, const ForceArguments& at);

// ---- frame_derivatives.cpp
void find_sides(const Model& model, const ForceWork& forces, ForceDerivativeWork& work);
void measure_frames_along(const Model& model, const Data& data, const ForceWork& forces,
                          ForceDerivativeWork& work, const ForceDirection& along);
// work.field.own: changes of the wrenches on bodies
void transmit_frames_along(const Model& model, const Data& data, const ForceWork& forces,
                           ForceDerivativeWork& work);
// work.force of frame actuators from work.path
void transmit_frames_against(const Model& model, const Data& data, const ForceWork& forces,
                             ForceDerivativeWork& work);
// From work.path and the covectors of length and velocity to those of displacements, velocities and theta.
void measure_frames_against(const Model& model, const Data& data, const ForceWork& forces,
                            ForceDerivativeWork& work, ForceGradient& to);
// Adds scale times their share of dtau/dq and dtau/dv.
void add_frame_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                         ForceDerivativeWork& work, double scale, StridedMatrices out);
// arms[d] += moment arm of a frame transmission
void frame_arms(const Data& data, const ForceWork& forces, const ForceDerivativeWork& work, size_t frame,
                double* arms);

}  // namespace articula
