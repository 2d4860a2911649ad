#pragma once
// The workspace of ImpulseDerivatives, shared by products (impulse.cpp) and Jacobians
// (impulse_jacobians.cpp).

#include "articula/derivatives/impulse.hpp"
#include "articula/derivatives/step_output.hpp"
#include "contact_columns.hpp"
#include "contact_parameters.hpp"
#include "contact_rates.hpp"
#include "law_system.hpp"

namespace articula {

struct ImpulseDerivatives::Work {
  explicit Work(const Model& model);

  void rates_along(const double* dq, const double* dv, const double* dtheta);
  void rates_against(const double* y1, VectorRef z_bar);
  bool factor_laws();
  void find_all_slots();
  void constrain(int total);
  void add_projected(const std::vector<Force>& wrenches, double sign, double* r);

  int nv, na, nu;
  SmoothResidual residual;
  StepOutput output;
  ContactRates rates;
  ContactParameterRates parameters;
  Data after;  // kinematics with velocities for v+
  ForceDerivativeWork movers;
  ParameterWork slots_after, slots_before;
  std::vector<LawSystem> laws;
  std::vector<RowMode> modes;  // what the laws are linearised with: the step's, unless relabelled
  bool wants_parameters = true;

  const Model* model = nullptr;
  Data* data = nullptr;
  const ImpulseWork* step = nullptr;
  ImpulseSettings settings;
  bool bounces = false, slots_found = false;
  VectorX acceleration;           // (v+ - v) / h
  VectorX scratch, mass_product;  // nv
  VectorX ignored;                // nv
  std::vector<BodyRate> bodies;
  std::vector<BodyRateBar> body_bars;
  std::vector<Force> dF;          // per body
  std::vector<Force> link_force;  // per link
  std::vector<Motion> Y;          // per body
  std::vector<double> dsigma, rho, c, dlam;
  WrenchField field;
  ContactColumns columns;
  RowMatrix blocks;           // nv x columns: v+ by q, v, activations, controls, each at a multiple of four
  RowMatrix row_columns;      // rows x columns: sigma, then impulses
  RowMatrix impulse_columns;  // nv x columns
};

}  // namespace articula
