#include "displacements.hpp"

#include "model/reflected.hpp"
#include "slots.hpp"

namespace articula {

// In the order in which find_slots (slots.cpp) lists them.
void find_movers(const Model& model, ForceDerivativeWork& work) {
  const Structure& s = model.structure();
  int slots = 0;
  work.mover_begin.assign(1, 0);
  const auto add_blocks = [&](int joint) {
    for (int d = s.joints[joint].dof; d < dof_end(s, joint); d = s.dofs[d].block_end) {
      work.movers.push_back({-1, d, s.dofs[d].block_end});
    }
  };
  for (int b = 0; b < model.nbody(); ++b) {
    const LinkIndex& link = s.links[s.bodies[b].link];
    const bool owns_link = b > 0 && link.body == b;
    const bool placed = b > 0 && !(owns_link && link.kind == LinkKind::free);
    if (placed) work.movers.push_back({slots++, 0, 0});
    for (int j = link.joint_begin; owns_link && j < link.joint_end; ++j) {
      if (placed) work.movers.push_back({slots++, 0, 0});
      add_blocks(j);
      if (placed) work.movers.push_back({slots++, 0, 0});
    }
    work.mover_begin.push_back(static_cast<int>(work.movers.size()));
  }
}

void displace(const Model& model, const Data& data, ForceDerivativeWork& work,
              const ParameterWork* parameters, const ForceDirection& along) {
  const Structure& s = model.structure();
  work.displacement[0] = work.change[0] = {};
  for (int b = 1; b < model.nbody(); ++b) {
    const int parent = s.bodies[b].parent;
    const Vec3 shift = reference_shift(model, data, parent, b);
    Motion Z = shifted(work.displacement[parent], shift), m = shifted(work.change[parent], shift);
    for (int i = work.mover_begin[b]; i < work.mover_begin[b + 1]; ++i) {
      const Mover& mover = work.movers[i];
      if (mover.slot >= 0) {
        if (along.theta == nullptr) continue;
        const Slot& slot = parameters->slots[mover.slot];
        const Motion twist = slot_twist(model, slot, b, along.theta);
        m += cross(slot.v, twist);
        Z += twist;
        continue;
      }
      for (int d = mover.dof_begin; d < mover.dof_end; ++d) {
        if (along.q != nullptr) m += data.psi_dot[d] * along.q[d], Z += data.S[d] * along.q[d];
        if (along.v != nullptr) m += data.S[d] * along.v[d];
      }
      for (int d = mover.dof_begin; d < mover.dof_end; ++d) work.dof_displacement[d] = Z;
    }
    work.displacement[b] = Z;
    work.change[b] = m;
  }
}

void clear_displacement_covectors(ForceDerivativeWork& work) {
  for (std::vector<Force>* covectors : {&work.displacement_bar, &work.change_bar, &work.dof_bar}) {
    for (Force& covector : *covectors) covector = {};
  }
}

// m . (v x Z) = -Z . (v x* m)
void gather_displacements(const Model& model, const Data& data, ForceDerivativeWork& work,
                          const ParameterWork* parameters, ForceGradient& to) {
  const Structure& s = model.structure();
  for (int b = model.nbody() - 1; b > 0; --b) {
    Force Z_bar = work.displacement_bar[b];
    const Force& m_bar = work.change_bar[b];
    for (int i = work.mover_begin[b + 1] - 1; i >= work.mover_begin[b]; --i) {
      const Mover& mover = work.movers[i];
      if (mover.slot >= 0) {
        if (to.theta == nullptr) continue;
        const Slot& slot = parameters->slots[mover.slot];
        add_slot_covector(model, slot, b, Z_bar - cross(slot.v, m_bar), to.theta);
        continue;
      }
      for (int d = mover.dof_begin; d < mover.dof_end; ++d) Z_bar += work.dof_bar[d];
      for (int d = mover.dof_begin; d < mover.dof_end; ++d) {
        to.q[d] += dot(data.S[d], Z_bar) + dot(data.psi_dot[d], m_bar);
        to.v[d] += dot(data.S[d], m_bar);
      }
    }
    const int parent = s.bodies[b].parent;
    const Vec3 shift = reference_shift(model, data, b, parent);
    work.displacement_bar[parent] += shifted(Z_bar, shift);
    work.change_bar[parent] += shifted(m_bar, shift);
  }
}

void sum_paths(const Model& model, const Data& data, ForceDerivativeWork& work, const double* y) {
  const Structure& s = model.structure();
  for (int b = 0; b < model.nbody(); ++b) {
    const LinkIndex& link = s.links[s.bodies[b].link];
    Motion Y{};
    if (b > 0 && !(link.body == b && link.root)) Y = work.path[s.bodies[b].parent];
    if (link.body == b) {
      for (int d = link.dof_begin; d < link.dof_end; ++d) Y += data.S[d] * y[d];
    }
    work.path[b] = Y;
  }
}

// dS_d = Z_d x S_d, and (Z x S) . f = -S . (Z x* f)
void add_field_along(const Model& model, const Data& data, const WrenchField& field,
                     ForceDerivativeWork& work, const double* row_scale, double* dtau) {
  const Structure& s = model.structure();
  sum_subtrees(model, work.field);
  for (int d = 0; d < s.nv; ++d) {
    if (row_scale[d] == 0.0) continue;
    const int b = s.links[s.dofs[d].link].body;
    Force change = work.field.subtree[b];
    if (field.active) change -= cross(work.dof_displacement[d], field.subtree[b]);
    dtau[d] += row_scale[d] * dot(data.S[d], change);
  }
}

// (Z x S) . f = Z . (S x* f)
void add_field_against(const Model& model, const Data& data, const WrenchField& field,
                       ForceDerivativeWork& work, const double* y) {
  const Structure& s = model.structure();
  for (int d = 0; d < s.nv; ++d) {
    work.dof_bar[d] += cross(data.S[d] * y[d], field.subtree[s.links[s.dofs[d].link].body]);
  }
}

}  // namespace articula
