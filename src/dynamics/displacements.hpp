#pragma once
// How bodies are displaced by changes of q and of the numbers of theta that place them, and the transpose.
//
// Everything behind a dof or slot moves by its twist Z (S dq, or what dtheta makes of the slot), as one rigid
// body, and its velocity changes by  Z x v + m,  m = psi' dq + S dv  (v_before x Z of a slot).

#include "articula/dynamics/force_derivatives.hpp"
#include "force_terms.hpp"

namespace articula {

void find_movers(const Model& model, ForceDerivativeWork& work);

// Fills displacement, change and dof_displacement (of what the dof's axis is fixed in: its own block
// included).
void displace(const Model& model, const Data& data, ForceDerivativeWork& work,
              const ParameterWork* parameters, const ForceDirection& along);

// From displacement_bar, change_bar and dof_bar, the gradient with respect to q, v and theta.
void gather_displacements(const Model& model, const Data& data, ForceDerivativeWork& work,
                          const ParameterWork* parameters, ForceGradient& to);
void clear_displacement_covectors(ForceDerivativeWork& work);

// path = sum S y over the path to each body.
void sum_paths(const Model& model, const Data& data, ForceDerivativeWork& work, const double* y);

// ---- a wrench field whose wrenches `own` change by work.field.own (filled by the caller):
// dtau_d += scale_d (S_d . sum of changes + dS_d . sum of wrenches)
void add_field_along(const Model& model, const Data& data, const WrenchField& field,
                     ForceDerivativeWork& work, const double* row_scale, double* dtau);
// The share of dS_d . sum of wrenches in dof_bar; y scaled by rows.
void add_field_against(const Model& model, const Data& data, const WrenchField& field,
                       ForceDerivativeWork& work, const double* y);

}  // namespace articula
