#pragma once
// A step is a root, a gradient is one more solve.
//
// Every stepper defines unknowns w by r(w; z) = 0 and its result by x+ = X(w, z), with z all that goes in
// (state, forces, parameters). For any of it
//     along:    dw = -(dr/dw)^-1 (dr/dz) dz,                  dx+ = (dX/dw) dw + (dX/dz) dz
//     against:  (dr/dw)^T y = (dX/dw)^T x_bar,                z_bar = (dX/dz)^T x_bar - (dr/dz)^T y
// The factor of dr/dw is the one the step made. A stepper gives the products with its partials; nothing
// else about differentiation is its own.

#include "articula/math/types.hpp"

namespace articula {

class ImplicitStep {
 public:
  virtual ~ImplicitStep() = default;

  virtual int unknowns() const = 0;
  virtual int inputs() const = 0;
  virtual int outputs() const = 0;

  virtual void solve(VectorRef r) = 0;                                          // r <- (dr/dw)^-1 r
  virtual void solve_transposed(VectorRef r) = 0;                               // r <- (dr/dw)^-T r
  virtual void residual_along(const ConstVectorRef& dz, VectorRef dr) = 0;      // dr = (dr/dz) dz
  virtual void residual_against(const ConstVectorRef& y, VectorRef z_bar) = 0;  // z_bar -= (dr/dz)^T y
  virtual void output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) = 0;
  // w_bar = (dX/dw)^T x_bar, z_bar = (dX/dz)^T x_bar
  virtual void output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) = 0;
  // Of a factor that is nearly singular solves along and against have few digits in common: puts into z_bar
  // what a stepper knows better.
  virtual void refine_against(const ConstVectorRef& /*x_bar*/, VectorRef /*z_bar*/) {}
};

// `w` is room for `unknowns` numbers, so that nothing is allocated.
void push_forward(ImplicitStep& step, const ConstVectorRef& dz, VectorRef w, VectorRef dx);
void pull_back(ImplicitStep& step, const ConstVectorRef& x_bar, VectorRef w, VectorRef z_bar);

}  // namespace articula
