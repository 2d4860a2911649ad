#include "articula/dynamics/rnea.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

Force external_wrench(const Model& model, const Data& data, const ExternalWrenches& external, int link) {
  Force sum{};
  for (int b : model.structure().links[link].bodies) {
    const double* wrench = external.data() + 6 * b;
    const Vec3 force = load3(wrench);
    const Vec3 at = data.link_r[link] + data.link_R[link] * model.constants().body_com[b];
    sum += Force{load3(wrench + 3) + cross(at, force), force};
  }
  return sum;
}

// f = I a + v x* I v - f_external, then towards the root.
void gather_forces(const Model& model, Data& data, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  if (options.external != nullptr) {
    require_size("external", options.external->cols(), model.nbody());
  }
  for (int k = 1; k < nlink; ++k) {
    const Inertia& inertia = data.link_inertia[k];
    const Motion& v = data.link_v[k];
    Force f = inertia * data.link_a[k] + cross(v, inertia * v);
    if (options.gyroscopic_step > 0.0 && turns_freely(s, s.links[k])) {
      const Mat3& R = data.link_R[k];
      f.moment += R * implicit_gyroscopic(inertia_about_com(model.constants().links[k].inertia),
                                          transpose_times(R, v.angular), options.gyroscopic_step)
                          .torque;
    }
    if (options.external != nullptr) f -= external_wrench(model, data, *options.external, k);
    data.link_force[k] = f;
  }
  for (int k = nlink - 1; k > 0; --k) {
    if (!s.links[k].root) data.link_force[s.links[k].parent] += data.link_force[k];
  }
}

namespace {

void inverse_dynamics(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
                      const double* a, VectorRef tau, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  require_size("v", v.size(), s.nv);
  require_size("tau", tau.size(), s.nv);
  forward_kinematics(model, data, q);
  place_inertias(model, data);
  propagate_motion(model, data, v.data(), a);
  gather_forces(model, data, options);
  for (int d = 0; d < s.nv; ++d) {
    const double projected = dot(data.S[d], data.link_force[s.dofs[d].link]);
    tau[d] = a == nullptr ? projected : projected + model.constants().armature[d] * a[d];
  }
}

}  // namespace

void rnea(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
          const ConstVectorRef& a, VectorRef tau, const DynamicsOptions& options) {
  require_size("a", a.size(), model.nv());
  inverse_dynamics(model, data, q, v, a.data(), tau, options);
}

void bias_forces(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
                 VectorRef c, const DynamicsOptions& options) {
  inverse_dynamics(model, data, q, v, nullptr, c, options);
}

}  // namespace articula
