#include <numbers>

#include "io/mjcf/attributes.hpp"
#include "io/numbers.hpp"
#include "io/rpy.hpp"
#include "io/sdf/reader.hpp"

namespace articula::sdf {

std::vector<Element> children_of(const Element& parent, std::string_view name) {
  std::vector<Element> result;
  for (pugi::xml_node node = parent.node.first_child(); node; node = node.next_sibling()) {
    if (node.type() == pugi::node_element && (name.empty() || name == node.name())) {
      result.push_back({node, parent.file});
    }
  }
  return result;
}

std::string text_of(const Element& element) {
  std::string_view text = element.node.child_value();
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::vector<double> numbers_of(const Element& element, bool infinite) {
  std::vector<double> result;
  std::string_view text = element.node.child_value();
  result.reserve(count_words(text));
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    std::optional<double> value = to_finite(word);
    if (!value && infinite) {
      const std::optional<double> any = to_number<double>(word);
      if (any && std::isinf(*any)) value = any;
    }
    if (!value) {
      fail(element,
           "'{:.40}' is not a finite number; write numbers like 1, -0.5 or 2e-3 with spaces between them",
           word);
    }
    result.push_back(*value);
  }
  return result;
}

bool read(const Element& parent, const char* child, double& value, bool infinite) {
  const Element element = child_of(parent, child);
  if (!element.node) return false;
  const std::vector<double> given = numbers_of(element, infinite);
  if (given.size() != 1) fail(element, "it has {} numbers; it needs 1", given.size());
  value = given[0];
  return true;
}

bool read(const Element& parent, const char* child, bool& value) {
  const Element element = child_of(parent, child);
  if (!element.node) return false;
  const std::string text = text_of(element);
  const bool yes = text == "true" || text == "1" || text == "True";
  if (!yes && text != "false" && text != "0" && text != "False") {
    fail(element, "'{:.40}' must be true or false", text);
  }
  value = yes;
  return true;
}

bool read(const Element& parent, const char* child, Vector3& value) {
  const Element element = child_of(parent, child);
  if (!element.node) return false;
  const std::vector<double> given = numbers_of(element);
  if (given.size() != 3) fail(element, "it has {} numbers; it needs 3", given.size());
  value = {given[0], given[1], given[2]};
  return true;
}

Pose read_pose(const Element& parent, std::string* relative_to) {
  Pose pose;
  const Element element = child_of(parent, "pose");
  if (!element.node) return pose;
  if (relative_to != nullptr) *relative_to = element.text("relative_to");
  const std::vector<double> given = numbers_of(element);
  if (given.empty()) return pose;
  const bool quaternion = element.text("rotation_format") == "quat_xyzw";
  const std::size_t needed = quaternion ? 7 : 6;
  if (given.size() != needed) fail(element, "it has {} numbers; it needs {}", given.size(), needed);
  pose.position = {given[0], given[1], given[2]};
  if (quaternion) {
    const Quaternion q(given[6], given[3], given[4], given[5]);
    if (q.norm() < 1e-7) fail(element, "the quaternion is zero; no rotation is 0 0 0 1");
    pose.rotation = q.normalized();
  } else {
    const bool degrees = element.text("degrees") == "true" || element.text("degrees") == "1";
    const double unit = degrees ? std::numbers::pi / 180.0 : 1.0;
    pose.rotation = rotation_of_rpy(unit * Vector3(given[3], given[4], given[5]));
  }
  return pose;
}

}  // namespace articula::sdf
