#include "articula/dynamics/parameter_derivatives.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/model/sizes.hpp"
#include "inertial_terms.hpp"
#include "model/reflected.hpp"
#include "slots.hpp"

namespace articula {

ParameterWork::ParameterWork(const Model& model)
    : slot_begin(model.nbody() + 1),
      inertia(model.nbody()),
      coupling(model.nbody()),
      external(model.nbody()),
      force(model.nbody()),
      path_motion(model.nbody()),
      path_w(model.nbody()),
      path_z(model.nbody()),
      path_weld(model.nbody()),
      subtree_force(model.nbody()),
      subtree_w(model.nbody()),
      subtree_z(model.nbody()) {
  slots.reserve(static_cast<size_t>(model.nbody() + 2 * model.njoint()));
}

namespace {

// From the reference point of a body to that of its parent; zero within a tree.
Vec3 reference_shift(const Structure& s, const Data& data, int body) {
  const int k = s.bodies[body].link, parent = s.bodies[s.bodies[body].parent].link;
  return data.link_reference[k] - data.link_reference[parent];
}

// Which body, if any, carries the implicit gyroscopic term of its whole link.
bool carries_gyroscopic(const Structure& s, int body, const DynamicsOptions& options) {
  const LinkIndex& link = s.links[s.bodies[body].link];
  return options.gyroscopic_step > 0.0 && link.body == body && turns_freely(s, link);
}

// Centre of mass of a body from its reference point, and the wrench on it.
struct BodyWrench {
  Vec3 F, n, at;
  BodyWrench(const Model& model, const Data& data, const ExternalWrenches& external, int body) {
    const int k = model.structure().bodies[body].link;
    F = load3(external.data() + 6 * body);
    n = load3(external.data() + 6 * body + 3);
    at = data.link_r[k] + data.link_R[k] * model.constants().body_com[body];
  }
};

bool moves(const Structure& s, int body) {
  const LinkKind kind = s.links[s.bodies[body].link].kind;
  return kind != LinkKind::world && kind != LinkKind::kinematic;
}

}  // namespace

void prepare_parameter_derivatives(const Model& model, Data& data, ParameterWork& work,
                                   const ConstVectorRef& q, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  find_slots(model, data, q, work);
  for (int b = 0; b < model.nbody(); ++b) {
    work.inertia[b] = {};
    work.coupling[b] = work.external[b] = {};
    work.force[b] = {};
    if (!moves(s, b)) continue;
    const int k = s.bodies[b].link;
    const Motion& v = data.link_v[k];
    const Inertia inertia =
        inertia_change(body_motion(model, data, b), model.theta().data() + s.bodies[b].inertia);
    work.inertia[b] = inertia;
    work.coupling[b] = rigid_coupling(inertia, v);
    work.force[b] = inertia * data.link_a[k] + cross(v, inertia * v);
    if (carries_gyroscopic(s, b, options)) {
      const GyroscopicTerm term =
          implicit_gyroscopic(inertia_about_com(data.local_inertia[k]), v.angular, options.gyroscopic_step);
      work.coupling[b].N += term.derivative;
      work.force[b].moment += term.torque;
    }
    if (options.external != nullptr) {
      const BodyWrench wrench(model, data, *options.external, b);
      work.external[b] = wrench_coupling(wrench.F, wrench.n, wrench.at);
      work.force[b] -= Force{wrench.n + cross(wrench.at, wrench.F), wrench.F};
    }
  }
  for (int b = model.nbody() - 1; b > 0; --b) {
    work.force[s.bodies[b].parent] += shifted(work.force[b], reference_shift(s, data, b));
  }
}

namespace {

// What the changed inertial numbers of a body add to its own force.
Force inertial_change(const Model& model, const Data& data, const DynamicsOptions& options, int body,
                      const double* dtheta) {
  const int offset = model.structure().bodies[body].inertia;
  const double *pi = model.theta().data() + offset, *dpi = dtheta + offset;
  const BodyMotion motion = body_motion(model, data, body);
  Force change = inertial_wrench(motion, dpi);
  if (options.external != nullptr && pi[0] > 0.0) {
    // c = h/m moves, and the wrench with it.
    const Vec3 dc = (load3(dpi + 1) - load3(pi + 1) * (dpi[0] / pi[0])) * (1.0 / pi[0]);
    change.moment -= cross(motion.R * dc, load3(options.external->data() + 6 * body));
  }
  return change;
}

// The change of a link's inertia (about its reference point) through its bodies' numbers and the
// displacements of those welded to it.
Inertia link_inertia_change(const Model& model, const Data& data, const ParameterWork& work, int link,
                            const double* dtheta) {
  Inertia sum{};
  for (int b : model.structure().links[link].bodies) {
    sum += inertia_change(body_motion(model, data, b), dtheta + model.structure().bodies[b].inertia);
    sum += inertia_change(work.inertia[b], work.path_weld[b]);
  }
  return sum;
}

}  // namespace

// The sums of rnea_directional, over bodies instead of links, with slots in place of joints.
void rnea_parameter_directional(const Model& model, const Data& data, ParameterWork& work,
                                const ConstVectorRef& a, const DynamicsOptions& options,
                                const ConstVectorRef& dtheta, VectorRef dtau) {
  const Structure& s = model.structure();
  require_size("dtheta", dtheta.size(), model.theta().size());
  require_size("dtau", dtau.size(), s.nv);
  const int nbody = model.nbody();
  work.path_motion[0] = {Vec3(), -load3(dtheta.data() + s.gravity)};
  for (int b = 1; b < nbody; ++b) {
    const int parent = s.bodies[b].parent;
    Motion A = shifted(work.path_motion[parent], -reference_shift(s, data, b));
    Vec3 w = work.path_w[parent], z = work.path_z[parent];
    const bool welded = s.links[s.bodies[b].link].body != b;
    Motion weld = welded ? work.path_weld[parent] : Motion{};
    for (int i = work.slot_begin[b]; i < work.slot_begin[b + 1]; ++i) {
      const Slot& slot = work.slots[i];
      const Motion Z = slot_twist(model, slot, b, dtheta.data());
      const Motion psi_dot = cross(slot.v, Z);
      A += cross(slot.a, Z) + cross(slot.v, psi_dot);
      w += psi_dot.angular;
      z += Z.angular;
      if (welded) weld += Z;
    }
    work.path_motion[b] = A, work.path_w[b] = w, work.path_z[b] = z, work.path_weld[b] = weld;
    work.subtree_force[b] = {};
    if (!moves(s, b)) continue;
    work.subtree_force[b] = work.inertia[b] * A + work.coupling[b] * w + work.external[b] * z +
                            inertial_change(model, data, options, b, dtheta.data());
  }
  for (int k = 1; k < model.nlink(); ++k) {
    const int b = s.links[k].body;
    if (!carries_gyroscopic(s, b, options)) continue;
    const Inertia change = link_inertia_change(model, data, work, k, dtheta.data());
    work.subtree_force[b].moment += gyroscopic_inertia_change(
        inertia_about_com(data.local_inertia[k]), data.link_v[k].angular, options.gyroscopic_step,
        inertia_about_com_change(data.link_inertia[k], change));
  }
  for (int b = nbody - 1; b > 0; --b) {
    Force f = work.subtree_force[b];
    for (int i = work.slot_begin[b + 1] - 1; i >= work.slot_begin[b]; --i) {
      const Slot& slot = work.slots[i];
      if (slot.kind == Slot::Kind::before_joint) {
        const int j = slot.joint, end = j + 1 < model.njoint() ? s.joints[j + 1].dof : s.nv;
        for (int d = s.joints[j].dof; d < end; ++d) dtau[d] = dot(data.S[d], f);
      }
      f += cross(slot_twist(model, slot, b, dtheta.data()), work.force[b]);
    }
    const LinkIndex& link = s.links[s.bodies[b].link];
    if (link.kind == LinkKind::free) {
      for (int d = link.dof_begin; d < link.dof_end; ++d) dtau[d] = dot(data.S[d], f);
    }
    if (b > 0) work.subtree_force[s.bodies[b].parent] += shifted(f, reference_shift(s, data, b));
  }
  for_each_armature_partial(s, model.theta(),
                            [&](int d, int k, double partial) { dtau[d] += partial * dtheta[k] * a[d]; });
}

namespace {

// Twists of bodies along y, per link; Y before each slot is found again on the way.
void path_twists(const Model& model, const Data& data, ParameterWork& work, const ConstVectorRef& y) {
  const Structure& s = model.structure();
  for (int b = 0; b < model.nbody(); ++b) {
    const LinkIndex& link = s.links[s.bodies[b].link];
    Motion Y{};
    if (b > 0 && !(link.body == b && link.root)) Y = work.path_motion[s.bodies[b].parent];
    if (link.body == b) {
      for (int d = link.dof_begin; d < link.dof_end; ++d) Y += data.S[d] * y[d];
    }
    work.path_motion[b] = Y;
  }
}

// Gradient of psi_ddot . G + psi_dot . H + z . X + Y . (Z x* f) with respect to the twist Z:
//   -a x* G + v x* (v x* G) + (X - v x H, 0) - Y x* f
Force slot_covector(const Slot& slot, const Force& G, Vec3 H, Vec3 X, const Motion& Y, const Force& f) {
  Force g = cross(slot.v, cross(slot.v, G)) - cross(slot.a, G) - cross(Y, f);
  g.moment += X - cross(slot.v.angular, H);
  return g;
}

void add_inertial_gradients(const Model& model, const Data& data, ParameterWork& work,
                            const DynamicsOptions& options, int b, double* theta_bar) {
  const BodyIndex& body = model.structure().bodies[b];
  const double* pi = model.theta().data() + body.inertia;
  double* pi_bar = theta_bar + body.inertia;
  const BodyMotion motion = body_motion(model, data, b);
  const Motion& Y = work.path_motion[b];
  add_inertial_covector(motion, Y, pi_bar);
  if (options.external != nullptr && pi[0] > 0.0) {
    const Vec3 c_bar =
        transpose_times(motion.R, cross(Y.angular, load3(options.external->data() + 6 * b))) * (1.0 / pi[0]);
    for (int i = 0; i < 3; ++i) pi_bar[1 + i] += c_bar[i];
    pi_bar[0] -= dot(c_bar, load3(pi + 1)) / pi[0];
  }
}

}  // namespace

// The sums of rnea_adjoint, over bodies, with slots in place of joints.
void rnea_parameter_adjoint(const Model& model, const Data& data, ParameterWork& work,
                            const ConstVectorRef& a, const DynamicsOptions& options, const ConstVectorRef& y,
                            VectorRef theta_bar) {
  const Structure& s = model.structure();
  require_size("y", y.size(), s.nv);
  require_size("theta_bar", theta_bar.size(), model.theta().size());
  const int nbody = model.nbody();
  path_twists(model, data, work, y);
  for (int b = 0; b < nbody; ++b) {
    const Motion& Y = work.path_motion[b];
    work.subtree_force[b] = work.inertia[b] * Y;
    work.subtree_w[b] = transpose_times(work.coupling[b], Y);
    work.subtree_z[b] = transpose_times(work.external[b], Y);
    work.path_weld[b] = {};  // here: covector of the displacement relative to the link
    if (moves(s, b)) add_inertial_gradients(model, data, work, options, b, theta_bar.data());
  }
  for (int k = 1; k < model.nlink(); ++k) {
    const int main = s.links[k].body;
    if (!carries_gyroscopic(s, main, options)) continue;
    const Mat3 gradient =
        gyroscopic_inertia_gradient(inertia_about_com(data.local_inertia[k]), data.link_v[k].angular,
                                    options.gyroscopic_step, work.path_motion[main].angular);
    const Inertia by_link = inertia_about_com_gradient(data.link_inertia[k], gradient);
    for (int b : s.links[k].bodies) {
      add_inertia_covector(body_motion(model, data, b), by_link, theta_bar.data() + s.bodies[b].inertia);
      const Force weld = inertia_covector(work.inertia[b], by_link);
      work.path_weld[b] = {weld.moment, weld.linear};
    }
  }
  for (int b = nbody - 1; b > 0; --b) {
    const int parent = s.bodies[b].parent;
    const LinkIndex& link = s.links[s.bodies[b].link];
    const bool welded = link.body != b;
    Motion Y = work.path_motion[b];
    for (int i = work.slot_begin[b + 1] - 1; i >= work.slot_begin[b]; --i) {
      const Slot& slot = work.slots[i];
      Force g = Force{};
      if (slot.kind == Slot::Kind::before_joint) {
        const int j = slot.joint, end = j + 1 < model.njoint() ? s.joints[j + 1].dof : s.nv;
        for (int d = s.joints[j].dof; d < end; ++d) Y -= data.S[d] * y[d];
      }
      g = slot_covector(slot, work.subtree_force[b], work.subtree_w[b], work.subtree_z[b], Y, work.force[b]);
      if (welded) g += Force{work.path_weld[b].angular, work.path_weld[b].linear};
      add_slot_covector(model, slot, b, g, theta_bar.data());
    }
    work.subtree_force[parent] += shifted(work.subtree_force[b], reference_shift(s, data, b));
    work.subtree_w[parent] += work.subtree_w[b];
    work.subtree_z[parent] += work.subtree_z[b];
    if (welded) work.path_weld[parent] += work.path_weld[b];
  }
  for (int i = 0; i < 3; ++i) theta_bar[s.gravity + i] -= work.subtree_force[0].linear[i];
  for_each_armature_partial(s, model.theta(),
                            [&](int d, int k, double partial) { theta_bar[k] += partial * a[d] * y[d]; });
}

void inertial_regressor(const Model& model, const Data& data, MatrixRef Y) {
  const Structure& s = model.structure();
  require_size("rows of Y", Y.rows(), s.nv);
  require_size("columns of Y", Y.cols(), 10 * model.nbody());
  Y.setZero();
  for (int b = 1; b < model.nbody(); ++b) {
    if (!moves(s, b)) continue;
    const BodyMotion motion = body_motion(model, data, b);
    for (int i = 0; i < 10; ++i) {
      double unit[10] = {};
      unit[i] = 1.0;
      const Force wrench = inertial_wrench(motion, unit);
      int d = s.links[s.bodies[b].link].dof_end - 1;
      for (; d >= 0; d = s.dofs[d].parent) Y(d, 10 * b + i) = dot(data.S[d], wrench);
    }
  }
}

}  // namespace articula
