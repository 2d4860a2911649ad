#include "articula/dynamics/felt_inertia.hpp"

#include "articula/dynamics/crba.hpp"

namespace articula {

VectorX felt_inertia(const Model& model) {
  Data data(model);
  crba(model, data, model.neutral_configuration());
  VectorX felt(model.nv());
  for (int d = 0; d < model.nv(); ++d) {
    const DofIndex& dof = model.structure().dofs[d];
    felt[d] = data.mass[dof.row + dof.depth];
  }
  return felt;
}

}  // namespace articula
