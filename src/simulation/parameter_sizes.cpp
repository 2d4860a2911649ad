#include "parameter_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "articula/dynamics/felt_inertia.hpp"

namespace articula {

namespace {

void set_own_sizes(const Model& model, VectorX& sizes) {
  constexpr double nothing = 1e-6;
  for (const ParameterSlice& slice : model.parameters().slices()) {
    const double largest = model.theta().segment(slice.offset, slice.size).cwiseAbs().maxCoeff();
    for (int i = slice.offset; i < slice.offset + slice.size; ++i) {
      const double own = std::abs(model.theta()[i]);
      sizes[i] = own > nothing * largest ? own : largest > 0.0 ? largest : 1.0;
    }
  }
}

// tr I = tr I_origin - 2 h^2 / m about the centre of mass, with the first moment h. A body that has nothing
// is seen beside its link.
void set_inertia_sizes(const Model& model, VectorX& sizes) {
  for (const BodyIndex& body : model.structure().bodies) {
    if (body.inertia < 0) continue;
    const auto pi = model.theta().segment<10>(body.inertia);
    double m = pi[0], trace = pi[4] + pi[7] + pi[9] - 2.0 * pi.segment<3>(1).squaredNorm() / m;
    if (!(m > 0.0 && trace > 0.0)) {
      const Inertia& link = model.constants().links[body.link].inertia;
      m = link.mass;
      trace = link.rotational.eigen().trace();
    }
    if (!(m > 0.0 && trace > 0.0)) continue;
    sizes[body.inertia] = m;
    sizes.segment<3>(body.inertia + 1).setConstant(std::sqrt(m * trace));
    sizes.segment<6>(body.inertia + 4).setConstant(trace);
  }
}

// `index`: of a joint or a tendon that moves the inertia I.
template <class Index>
void set_friction_sizes(const Index& index, double I, double dt, VectorX& sizes, const VectorX& theta) {
  sizes[index.armature] = I;
  sizes[index.damping] = std::max(std::abs(theta[index.damping]), I / dt);
  sizes[index.dry_friction] = std::max(theta[index.dry_friction], I / dt);
  sizes[index.stiffness] = std::max(std::abs(theta[index.stiffness]), I / (dt * dt));
}

}  // namespace

VectorX parameter_sizes(const Model& model, double dt) {
  const Structure& s = model.structure();
  const VectorX &theta = model.theta(), felt = felt_inertia(model);
  VectorX sizes(theta.size());
  set_own_sizes(model, sizes);
  set_inertia_sizes(model, sizes);
  for (size_t j = 0; j < s.joints.size(); ++j) {
    const int begin = s.joints[j].dof, end = j + 1 < s.joints.size() ? s.joints[j + 1].dof : s.nv;
    set_friction_sizes(s.joints[j], felt.segment(begin, end - begin).minCoeff(), dt, sizes, theta);
  }
  for (const TendonIndex& tendon : s.tendons) {
    double mobility = 0.0;  // 1/I = sum c_j^2 / I_j
    for (size_t k = 0; k < tendon.joints.size(); ++k) {
      const double c = theta[tendon.coefficients + static_cast<int>(k)];
      mobility += c * c / felt[s.joints[static_cast<size_t>(tendon.joints[k])].dof];
    }
    if (mobility > 0.0) set_friction_sizes(tendon, 1.0 / mobility, dt, sizes, theta);
  }
  sizes[s.timestep] = dt;
  return sizes;
}

}  // namespace articula
