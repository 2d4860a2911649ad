#include "articula/model/parameters.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/model/names.hpp"

namespace articula {

std::string_view to_string(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::inertia: return "inertia";
    case ParameterKind::placement: return "placement";
    case ParameterKind::geometry: return "geometry";
    case ParameterKind::friction: return "friction";
    case ParameterKind::restitution: return "restitution";
    case ParameterKind::damping: return "damping";
    case ParameterKind::stiffness: return "stiffness";
    case ParameterKind::armature: return "armature";
    case ParameterKind::dry_friction: return "dry_friction";
    case ParameterKind::limits: return "limits";
    case ParameterKind::gains: return "gains";
    case ParameterKind::medium: return "medium";
    case ParameterKind::gravity: return "gravity";
    case ParameterKind::dt: return "dt";
  }
  return "unknown";
}

int ParameterRegistry::add(std::string name, ParameterKind kind, int size) {
  const int offset = size_;
  slices_.push_back({std::move(name), kind, offset, size});
  size_ += size;
  return offset;
}

const ParameterSlice& ParameterRegistry::find(std::string_view name) const {
  for (const ParameterSlice& slice : slices_) {
    if (slice.name == name) return slice;
  }
  std::vector<std::string> known;
  for (const ParameterSlice& slice : slices_) known.push_back(slice.name);
  throw Error(fmt::format("no parameter '{}'{}", name, suggestion(name, known)));
}

namespace {

bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t i = star; i <= text.size(); ++i) {
    if (matches(rest, text.substr(i))) return true;
  }
  return false;
}

}  // namespace

std::vector<ParameterSlice> ParameterRegistry::matching(std::string_view pattern) const {
  std::vector<ParameterSlice> found;
  for (const ParameterSlice& slice : slices_) {
    if (matches(pattern, slice.name)) found.push_back(slice);
  }
  if (found.empty()) find(pattern);  // throws, with suggestions
  return found;
}

std::vector<ParameterSlice> ParameterRegistry::of_kind(ParameterKind kind) const {
  std::vector<ParameterSlice> found;
  for (const ParameterSlice& slice : slices_) {
    if (slice.kind == kind) found.push_back(slice);
  }
  return found;
}

// I_origin = I_com + m (c^2 1 - c c^T)
InertialVector to_inertial_vector(double mass, const Vector3& com, const Matrix3& about_com) {
  const Matrix3 about_origin =
      about_com + mass * (com.squaredNorm() * Matrix3::Identity() - com * com.transpose());
  InertialVector pi;
  pi << mass, mass * com, about_origin(0, 0), about_origin(0, 1), about_origin(0, 2), about_origin(1, 1),
      about_origin(1, 2), about_origin(2, 2);
  return pi;
}

}  // namespace articula
