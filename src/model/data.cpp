#include "articula/model/data.hpp"

#include "articula/math/lie.hpp"

namespace articula {

Data::Data(const Model& model) {
  const Structure& s = model.structure();
  const size_t nlink = s.links.size(), nv = s.nv;
  const size_t hinges = (s.nhinge + 3) / 4 * 4;
  const size_t sparse = s.sparse_size;

  kinematic_twist.resize(s.nkinematic);
  kinematic_placed.resize(s.nkinematic);
  for (const BodyIndex& body : s.bodies) {
    if (body.kinematic < 0) continue;
    const double* described = model.theta().data() + body.placement;
    kinematic_pose.push_back({rotation_matrix(load_quaternion(described + 3)), load3(described)});
  }

  angle.resize(hinges), sine.resize(hinges), cosine.resize(hinges);
  link_R.resize(nlink, Mat3::identity());
  link_r.resize(nlink), link_reference.resize(nlink);
  S.resize(nv), S_local.resize(nv);
  local_inertia.resize(nlink);
  link_inertia.resize(nlink);
  link_v.resize(nlink), link_a.resize(nlink), link_force.resize(nlink);
  composite.resize(nlink);
  mass.resize(sparse), factor.resize(sparse);
  inverse_diagonal = VectorX::Zero(s.nv);
  dof_force.resize(nv);
  aba_v.resize(nlink), aba_a.resize(nlink), aba_bias.resize(nlink);
  articulated.resize(nlink), articulated_bias.resize(nlink);
  dof_U.resize(nv);
  dof_inverse_D = VectorX::Zero(s.nv), dof_u = VectorX::Zero(s.nv);
  dof_v.resize(nv), dof_a.resize(nv), psi_dot.resize(nv), S_dot.resize(nv);
}

}  // namespace articula
