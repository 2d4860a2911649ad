#include "force_terms.hpp"

namespace articula {

void clear(WrenchField& field) {
  for (Force& wrench : field.own) wrench = {};
}

// Bodies are in depth-first order, and a tree shares one reference point.
void sum_subtrees(const Model& model, WrenchField& field) {
  const Structure& s = model.structure();
  field.subtree = field.own;
  for (int b = model.nbody() - 1; b > 0; --b) {
    const LinkIndex& link = s.links[s.bodies[b].link];
    if (link.root && link.body == b) continue;
    field.subtree[s.bodies[b].parent] += field.subtree[b];
  }
}

double projected(const Model& model, const Data& data, const WrenchField& field, int d) {
  const Structure& s = model.structure();
  return dot(data.S[d], field.subtree[s.links[s.dofs[d].link].body]);
}

}  // namespace articula
