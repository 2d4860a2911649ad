#pragma once
// Between numbers of theta and twists of slots.

#include "articula/dynamics/parameter_derivatives.hpp"

namespace articula {

// Lists the slots of every body.
void find_slots(const Model& model, const Data& data, const ConstVectorRef& q, ParameterWork& work);

// The twist (about the reference point) that dtheta makes at a slot of `body`.
Motion slot_twist(const Model& model, const Slot& slot, int body, const double* dtheta);

// theta_bar += gradient of g . twist.
void add_slot_covector(const Model& model, const Slot& slot, int body, const Force& g, double* theta_bar);

}  // namespace articula
