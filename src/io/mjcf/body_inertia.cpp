#include "io/mjcf/body_inertia.hpp"

#include <cmath>
#include <unordered_map>

#include "io/mjcf/inertia.hpp"
#include "io/mjcf/orientation.hpp"

namespace articula::mjcf {

namespace {

constexpr double least = 1e-15;

// Moments along the axes in which the inertia is kept.
Vector3 moments_of(const InertiaDescription& inertia) {
  if (!inertia.principal_axes) return principal(inertia.inertia).moments;
  const Matrix3 R = inertia.principal_axes->toRotationMatrix();
  return (R.transpose() * inertia.inertia * R).diagonal();
}

bool is_real(const Vector3& moments) {
  // Rounding in the rotation must not condemn a flat body, for which A + B = C.
  const double slack = 1e-12 * moments.sum();
  return 2.0 * moments.maxCoeff() <= moments.sum() + slack;
}

}  // namespace

InertiaDescription read_inertial(const Reader& reader, const Attributes& a) {
  InertiaDescription inertia;
  if (!a.read("pos", inertia.com)) fail(a.element(), "attribute pos is missing; it is the centre of mass");
  if (!a.read("mass", inertia.mass)) fail(a.element(), "attribute mass is missing; add it");
  if (inertia.mass < 0.0) fail(a.element(), "attribute mass is {}; it cannot be negative", inertia.mass);
  const std::optional<Quaternion> rotation = read_rotation(a, reader.compiler);
  std::array<double, 6> full{};
  Vector3 diagonal = Vector3::Zero();
  if (a.read("fullinertia", full, 6)) {
    if (rotation || a.has("diaginertia")) {
      fail(a.element(), "fullinertia excludes diaginertia and a rotation; keep one of them");
    }
    inertia.inertia << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
    const PrincipalInertia axes = principal(inertia.inertia);
    if (axes.moments.minCoeff() <= 0.0 && reader.compiler.least_inertia <= 0.0) {
      fail(a.element(),
           "attribute fullinertia is not positive definite (moments {}, {}, {}); check the signs, or set "
           "boundinertia of <compiler>",
           axes.moments[0], axes.moments[1], axes.moments[2]);
    }
    inertia.principal_axes = axes.axes;
    return inertia;
  }
  a.read("diaginertia", diagonal);
  if (diagonal.minCoeff() < 0.0) fail(a.element(), "attribute diaginertia cannot be negative");
  inertia.principal_axes = rotation.value_or(Quaternion::Identity());
  inertia.inertia = turned(diagonal, *inertia.principal_axes);
  return inertia;
}

void bound_inertia(const Compiler& compiler, const Element& body, InertiaDescription& inertia) {
  inertia.mass = std::max(inertia.mass, compiler.least_mass);
  Vector3 moments = moments_of(inertia);
  if (!std::isfinite(inertia.mass) || !moments.allFinite() || !inertia.com.allFinite())
    fail(
        body,
        "its mass or inertia overflows; check the sizes, positions and densities of its geoms (in SI units)");
  bool changed = false;
  if (moments.minCoeff() < compiler.least_inertia) {
    moments = moments.cwiseMax(compiler.least_inertia);
    changed = true;
  }
  if (!is_real(moments)) {
    if (!compiler.balance_inertia) {
      fail(body,
           "no body has moments of inertia {}, {} and {}: the largest exceeds the sum of the others; correct "
           "them, or set balanceinertia of <compiler>",
           moments[0], moments[1], moments[2]);
    }
    moments.setConstant(moments.mean());
    changed = true;
  }
  if (changed) inertia.inertia = turned(moments, *inertia.principal_axes);
  if (inertia.mass == 0.0 &&
      moments.maxCoeff() > 0.0) {  // boundinertia without boundmass: a fixed body's frame
    inertia.as_given = true;
    inertia.principal_axes.reset();
  }
}

// A massless body is fine if something with mass is welded to it.
std::vector<std::size_t> bodies_without_mass(const std::vector<BodyDescription>& bodies) {
  std::vector<std::size_t> result;
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < bodies.size(); ++i) index.emplace(bodies[i].name, i);
  std::vector<bool> heavy(bodies.size());
  for (std::size_t i = bodies.size(); i-- > 0;) {  // children come after their parents
    const InertiaDescription& inertia = bodies[i].inertia;
    if (inertia.mass > least && moments_of(inertia).minCoeff() > least) heavy[i] = true;
    if (!bodies[i].joints.empty() && !heavy[i]) result.push_back(i);
    const auto parent = index.find(bodies[i].parent);
    if (parent != index.end() && bodies[i].joints.empty() && heavy[i]) heavy[parent->second] = true;
  }
  return result;
}

void require_moving_mass(const Reader& reader) {
  for (const std::size_t i : bodies_without_mass(reader.description.bodies)) {
    const BodyDescription& body = reader.description.bodies[i];
    throw Error(
        "{}: body '{:.100}' has joints, but no mass and inertia; add a geom with mass or an <inertial>, or "
        "set "
        "boundmass and boundinertia of <compiler>",
        body.where, body.name);
  }
}

void set_total_mass(Description& description, double mass) {
  double total = 0.0;
  for (const BodyDescription& body : description.bodies) total += body.inertia.mass;
  if (total <= 0.0) return;
  for (BodyDescription& body : description.bodies) {
    body.inertia.mass *= mass / total;
    body.inertia.inertia *= mass / total;
  }
}

}  // namespace articula::mjcf
