#include "io/mjcf/orientation.hpp"

#include <cmath>

namespace articula::mjcf {

namespace {

constexpr double smallest_norm = 1e-7;  // squared: what MuJoCo takes for zero

Vector3 unit(const Element& element, const char* attribute, const Vector3& vector) {
  if (vector.norm() < smallest_norm) fail(element, "attribute {} has an axis of length zero", attribute);
  return vector.normalized();
}

Quaternion from_axes(const Element& element, const std::array<double, 6>& values) {
  const Vector3 x = unit(element, "xyaxes", {values[0], values[1], values[2]});
  const Vector3 given(values[3], values[4], values[5]);
  const Vector3 y = unit(element, "xyaxes", given - given.dot(x) * x);
  Matrix3 axes;
  axes << x, y, x.cross(y);
  return Quaternion(axes).normalized();
}

Quaternion from_form(const Element& layer, const char* form, const Compiler& compiler) {
  const Attributes own(layer);
  if (form == std::string_view("euler")) {
    Vector3 angles;
    own.read(form, angles);
    return rotation_of_euler(angles, compiler);
  }
  if (form == std::string_view("xyaxes")) {
    std::array<double, 6> values{};
    own.read(form, values, 6);
    return from_axes(layer, values);
  }
  if (form == std::string_view("zaxis")) {
    Vector3 z;
    own.read(form, z);
    return rotation_to(unit(layer, form, z));
  }
  std::array<double, 4> values{};
  own.read(form, values, 4);
  if (form == std::string_view("axisangle")) {
    const Vector3 axis = unit(layer, form, {values[0], values[1], values[2]});
    return Quaternion(Eigen::AngleAxisd(compiler.angle(values[3]), axis));
  }
  const Quaternion rotation(values[0], values[1], values[2], values[3]);
  if (rotation.norm() < smallest_norm) fail(layer, "attribute quat is zero; no rotation is 1 0 0 0");
  return rotation.normalized();
}

}  // namespace

Quaternion rotation_to(const Vector3& direction) {
  const Vector3 cross = Vector3::UnitZ().cross(direction);
  const double sine = cross.norm();
  const Vector3 axis = sine < 1e-10 ? Vector3(Vector3::UnitX()) : Vector3(cross / sine);
  return Quaternion(Eigen::AngleAxisd(std::atan2(sine, direction.z()), axis));
}

Quaternion rotation_of_euler(const Vector3& angles, const Compiler& compiler) {
  Quaternion result = Quaternion::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = compiler.euler_sequence[static_cast<std::size_t>(i)];
    const bool fixed = letter < 'a';
    const Vector3 axis = Vector3::Unit((fixed ? letter - 'X' : letter - 'x'));
    const Quaternion turn(Eigen::AngleAxisd(compiler.angle(angles[i]), axis));
    result = fixed ? turn * result : result * turn;
  }
  return result.normalized();
}

namespace {

// How a layer gives a rotation; null where it gives none.
const char* form_of(const Element& layer) {
  const char* found = nullptr;
  for (const char* form : rotation_forms) {
    if (layer.attribute(form) == nullptr) continue;
    if (found != nullptr) fail(layer, "both {} and {} give a rotation; keep one of them", found, form);
    found = form;
  }
  return found;
}

}  // namespace

// The element itself decides, else the innermost of its defaults with a rotation, in whatever form.
std::optional<Quaternion> read_rotation(const Attributes& attributes, const Compiler& compiler) {
  if (const char* form = form_of(attributes.element())) {
    return from_form(attributes.element(), form, compiler);
  }
  for (const char* form : rotation_forms) {
    const Element* layer = attributes.layer_with(form);
    if (layer != nullptr) return from_form(*layer, form_of(*layer), compiler);
  }
  return std::nullopt;
}

Pose read_pose(const Attributes& attributes, const Compiler& compiler) {
  Pose pose;
  attributes.read("pos", pose.position);
  pose.rotation = read_rotation(attributes, compiler).value_or(Quaternion::Identity());
  return pose;
}

}  // namespace articula::mjcf
