#include "cli/gradient_directions.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <map>

#include "articula/derivatives/smooth_residual.hpp"

namespace articula::cli {

bool in_medium(const Model& model) {
  return model.theta()[model.structure().density] != 0.0 || model.theta()[model.structure().viscosity] != 0.0;
}

namespace {

int body_of(const Model& model, int inertia_offset) {
  for (int b = 1; b < model.nbody(); ++b) {
    if (model.structure().bodies[b].inertia == inertia_offset) return b;
  }
  return 0;
}

// A direction in which the body stays real, in its own measure: its pseudo-inertia J = [S h; h^T m] = L L^T,
// S = tr(I)/2 1 - I, becomes L (1 + t (A + A^T)) L^T.
InertialVector real_direction(const ConstVectorRef& pi, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-0.25, 0.25);
  Matrix3 I;
  I << pi[4], pi[5], pi[6], pi[5], pi[7], pi[8], pi[6], pi[8], pi[9];
  Eigen::Matrix4d J, A;
  J << 0.5 * I.trace() * Matrix3::Identity() - I, pi.segment<3>(1), pi.segment<3>(1).transpose(), pi[0];
  for (double& x : A.reshaped()) x = uniform(random);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> axes(J);
  const Eigen::Matrix4d L = axes.eigenvectors() * axes.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  const Eigen::Matrix4d dJ = L * (A + A.transpose()) * L.transpose();
  const Matrix3 dS = dJ.topLeftCorner<3, 3>(), dI = dS.trace() * Matrix3::Identity() - dS;
  InertialVector direction;
  direction << dJ(3, 3), dJ.topRightCorner<3, 1>(), dI(0, 0), dI(0, 1), dI(0, 2), dI(1, 1), dI(1, 2),
      dI(2, 2);
  return direction;
}

// A medium drags on the box along a body's principal axes. Where two moments are equal the axes, and with
// them the drag, may jump: such a body keeps its axes.
bool keeps_axes(const Model& model, int body) {
  constexpr double equal = 1e-2;
  const Vec3 L = model.constants().body_box[body].moments;
  const double largest = std::max({L[0], L[1], L[2]});
  const double gap = std::min({std::abs(L[0] - L[1]), std::abs(L[1] - L[2]), std::abs(L[2] - L[0])});
  return in_medium(model) && gap <= equal * largest;
}

// Other mass, centre of mass and edges b of the box:  I = m/12 diag(b_j^2 + b_k^2) in its axes.
InertialVector box_direction(const Model& model, int body, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  const double* pi = model.theta().data() + model.structure().bodies[body].inertia;
  const InertiaBox& box = model.constants().body_box[body];
  const Matrix3 A = box.axes.eigen();
  const Vector3 b = box.size.eigen();
  const double m = pi[0], dm = m * uniform(random);
  // Along one edge only: across two, I would be no longer diagonal in the box's axes to second order.
  const int along = std::uniform_int_distribution(0, 2)(random);
  const auto random3 = [&] { return Vector3(uniform(random), uniform(random), uniform(random)); };
  const Vector3 c = Vector3(pi[1], pi[2], pi[3]) / std::max(m, 1e-300),
                dc = b[along] * uniform(random) * A.col(along);
  const Vector3 db = b.cwiseProduct(random3()), square = b.cwiseAbs2(), dsquare = 2.0 * b.cwiseProduct(db);
  const Vector3 I = square.sum() * Vector3::Ones() - square, dI = dsquare.sum() * Vector3::Ones() - dsquare;
  // About the origin: I_com + m (c^2 1 - c c^T)
  const Vector3 moments = (dm * I + m * dI) / 12.0;
  Matrix3 d = A * moments.asDiagonal() * A.transpose();
  d += dm * (c.squaredNorm() * Matrix3::Identity() - c * c.transpose());
  d += m * (2.0 * c.dot(dc) * Matrix3::Identity() - dc * c.transpose() - c * dc.transpose());
  InertialVector direction;
  direction << dm, dm * c + m * dc, d(0, 0), d(0, 1), d(0, 2), d(1, 1), d(1, 2), d(2, 2);
  return direction;
}

}  // namespace

VectorX parameter_scales(const Model& model, const VectorX& felt) {
  VectorX scales = VectorX::Zero(model.theta().size());
  for (const ParameterSlice& slice : model.parameters().slices()) {
    const double least = slice.kind == ParameterKind::dt        ? 0.0
                         : slice.kind == ParameterKind::gravity ? 100.0
                                                                : 0.1;
    const double largest = model.theta().segment(slice.offset, slice.size).cwiseAbs().maxCoeff();
    scales.segment(slice.offset, slice.size).setConstant(std::max(largest, least));
  }
  for (size_t j = 0; j < model.structure().joints.size(); ++j) {
    const JointIndex& joint = model.structure().joints[j];
    const int end =
        j + 1 < model.structure().joints.size() ? model.structure().joints[j + 1].dof : model.nv();
    const double inertia = felt.segment(joint.dof, end - joint.dof).minCoeff();
    scales[joint.armature] = 0.3 * inertia;
    scales[joint.damping] = std::max(model.theta()[joint.damping], 10.0 * inertia);
    scales[joint.stiffness] = std::max(model.theta()[joint.stiffness], 1000.0 * inertia);
  }
  return scales;
}

namespace {

// Where a free body is placed in its file is nothing that a step depends on: q tells where it is.
bool places_free_body(const Model& model, int offset) {
  const Structure& s = model.structure();
  return std::any_of(s.bodies.begin(), s.bodies.end(), [&](const BodyIndex& body) {
    if (body.placement != offset) return false;
    const LinkIndex& link = s.links[body.link];
    return std::any_of(s.joints.begin(), s.joints.end(), [&](const JointIndex& joint) {
      return joint.type == JointType::free && joint.dof >= link.dof_begin && joint.dof < link.dof_end &&
             body.placement == s.bodies[link.body].placement;
    });
  });
}

}  // namespace

MatrixX parameter_directions(const Model& model, ParameterKind kind, const VectorX& scales,
                             std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<ParameterSlice> slices = model.parameters().of_kind(kind);
  // The armature of a tendon over several joints can only be zero.
  std::erase_if(slices, [&](const ParameterSlice& slice) {
    const auto& tendons = model.structure().tendons;
    return std::any_of(tendons.begin(), tendons.end(), [&](const TendonIndex& tendon) {
      return tendon.armature == slice.offset && tendon.joints.size() > 1;
    });
  });
  // What is zero cannot become negative: without a bounce or dry friction there is none to be changed.
  const bool not_negative = kind == ParameterKind::restitution || kind == ParameterKind::dry_friction ||
                            kind == ParameterKind::friction;
  if (not_negative)
    std::erase_if(slices, [&](const ParameterSlice& slice) {
      return model.theta().segment(slice.offset, slice.size).isZero(0.0);
    });
  const bool all_free = std::all_of(slices.begin(), slices.end(), [&](const ParameterSlice& slice) {
    return places_free_body(model, slice.offset);
  });
  if (slices.empty() || (kind == ParameterKind::placement && all_free)) return {};
  if (kind == ParameterKind::medium && !in_medium(model)) return {};
  const int before = StepInputs(model).theta;
  MatrixX directions = MatrixX::Zero(before + model.theta().size(), 8);
  std::array<std::map<std::pair<int, double>, double>, 8> factors;
  for (const ParameterSlice& slice : slices) {
    for (int c = 0; c < 8; ++c) {
      auto direction = directions.col(c).segment(before + slice.offset, slice.size);
      if (kind == ParameterKind::inertia) {
        const int body = body_of(model, slice.offset);
        direction = keeps_axes(model, body) ? box_direction(model, body, random)
                                            : real_direction(model.theta().segment(slice.offset, 10), random);
      } else if (not_negative || kind == ParameterKind::limits) {
        // Of two coefficients the larger holds, and of the ranges of two fingers that move as one the
        // narrower: what is equal stays equal.
        for (int i = 0; i < slice.size; ++i) {
          const double value = model.theta()[slice.offset + i];
          const auto [factor, added] = factors[c].try_emplace({i, value}, 0.0);
          if (added) factor->second = uniform(random);
          direction[i] = (not_negative ? 0.3 * value : scales[slice.offset + i]) * factor->second;
        }
      } else {
        for (int i = 0; i < slice.size; ++i) direction[i] = scales[slice.offset + i] * uniform(random);
      }
    }
  }
  return directions;
}

VectorX control_scales(const Model& model) {
  VectorX scales = VectorX::Ones(model.nu());
  for (int i = 0; i < model.nu(); ++i) {
    const std::optional<Vector2>& range = model.description().actuators[i].control_range;
    if (range) scales[i] = std::max(0.1 * ((*range)[1] - (*range)[0]), 1e-3);
  }
  return scales;
}

VectorX wrench_scales(const Model& model) {
  constexpr double acceleration = 10.0;  // m/s^2, rad/s^2
  VectorX scales = VectorX::Zero(6 * model.nbody());
  for (int b = 1; b < model.nbody(); ++b) {
    const double* pi = model.theta().data() + model.structure().bodies[b].inertia;
    if (!(pi[0] > 0.0)) continue;
    // tr I about the centre of mass
    const double about_origin = pi[4] + pi[7] + pi[9],
                 moments = about_origin - 2.0 * (pi[1] * pi[1] + pi[2] * pi[2] + pi[3] * pi[3]) / pi[0];
    scales.segment<3>(6 * b).setConstant(acceleration * pi[0]);
    scales.segment<3>(6 * b + 3).setConstant(acceleration * std::max(moments, 0.0) / 3.0);
  }
  return scales;
}

}  // namespace articula::cli
