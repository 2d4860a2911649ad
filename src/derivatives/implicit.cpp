#include "articula/derivatives/implicit.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

void push_forward(ImplicitStep& step, const ConstVectorRef& dz, VectorRef w, VectorRef dx) {
  require_size("dz", dz.size(), step.inputs());
  require_size("w", w.size(), step.unknowns());
  require_size("dx", dx.size(), step.outputs());
  step.residual_along(dz, w);
  step.solve(w);
  w = -w;
  step.output_along(w, dz, dx);
}

void pull_back(ImplicitStep& step, const ConstVectorRef& x_bar, VectorRef w, VectorRef z_bar) {
  require_size("x_bar", x_bar.size(), step.outputs());
  require_size("w", w.size(), step.unknowns());
  require_size("z_bar", z_bar.size(), step.inputs());
  step.output_against(x_bar, w, z_bar);
  step.solve_transposed(w);
  step.residual_against(w, z_bar);
  step.refine_against(x_bar, z_bar);
}

}  // namespace articula
