// Dry friction of dofs that slide. Its impulse is lam_d = -side h f, whatever else happens, so that it needs
// no row:
//   v_coast = v_free + Mhat^-1 sum e_d lam_d,      v+ = v_coast + Mhat^-1 J^T lam.
// Dofs are taken that move to the same side with v, v_free and v_coast, faster than coasting_speed. Where
// impulses turn one of them round, it has a row after all (idle_rows.cpp).

#include <algorithm>

#include "articula/dynamics/crba.hpp"
#include "row_builder.hpp"

namespace articula {

void ContactRows::coast(const Model& model, const Data& data, const Constraints& constraints,
                        const RowSettings& settings, const VectorX& v, const VectorX& v_free,
                        VectorX& v_coast) {
  coasting_.clear();
  v_coast = v_free;
  if (settings.frozen != nullptr) return;  // modes that are held are those of rows
  const auto side_of = [&](int dof) { return v[dof] > 0.0 ? 1.0 : -1.0; };
  for (int dof : constraints.dry_dofs) {
    const double side = side_of(dof);
    if (!(std::min(side * v[dof], side * v_free[dof]) > settings.coasting_speed)) continue;
    const std::uint64_t key = dry_friction_key(dof);
    if (std::find(called_.begin(), called_.end(), key) != called_.end()) continue;
    const double impulse = -side * settings.dt * model.constants().dry_friction[dof];
    coasting_.push_back({dof, side, key, impulse, side * v_free[dof]});
  }
  // What friction alone would stop has a row; then what is left is slowed down by less.
  constexpr int most_rounds = 3;
  for (int round = 0; round < most_rounds && !coasting_.empty(); ++round) {
    v_coast.setZero();
    for (const CoastingDof& each : coasting_) v_coast[each.dof] = each.impulse;
    solve_mass_matrix(model, data, v_coast);
    v_coast += v_free;
    const auto slow = [&](const CoastingDof& each) {
      return !(each.side * v_coast[each.dof] > settings.coasting_speed);
    };
    const auto end = std::remove_if(coasting_.begin(), coasting_.end(), slow);
    if (end == coasting_.end()) return;
    coasting_.erase(end, coasting_.end());
  }
  coasting_.clear();
  v_coast = v_free;
}

}  // namespace articula
