#pragma once
// Forward dynamics by the articulated-body algorithm, O(N).

#include "articula/dynamics/rnea.hpp"

namespace articula {

// a = M(q)^-1 (tau - c(q, v) + J^T f_external), armature included.
// False if a degree of freedom meets no inertia (the result is then not finite).
[[nodiscard]] bool aba(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
                       const ConstVectorRef& tau, VectorRef a, const DynamicsOptions& options = {});

// x <- M(q)^-1 x with what the last aba left in data, O(N).
void aba_solve(const Model& model, Data& data, VectorRef x);

}  // namespace articula
