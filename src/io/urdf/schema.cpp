// Which elements URDF has, and what is left of xacro.

#include "articula/model/names.hpp"
#include "io/numbers.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

struct Rule {
  std::string_view element, children;
};

constexpr std::array rules{
    Rule{"robot", "link joint material frame collision_filter_group"},
    Rule{"link", "inertial collision visual contact"},
    Rule{"joint", "origin parent child axis limit dynamics mimic calibration safety_controller"},
    Rule{"inertial", "origin mass inertia"},
    Rule{"collision", "origin geometry material verbose"},
    Rule{"visual", "origin geometry material"},
    Rule{"geometry", "box sphere cylinder capsule mesh"},
    Rule{"contact", "lateral_friction restitution"},
};

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> result;
  for (std::string_view next = next_word(list); !next.empty(); next = next_word(list)) {
    result.emplace_back(next);
  }
  return result;
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::string_view next = next_word(list); !next.empty(); next = next_word(list)) {
    if (next == word) return true;
  }
  return false;
}

const Rule* find_rule(std::string_view element) {
  for (const Rule& rule : rules) {
    if (rule.element == element) return &rule;
  }
  return nullptr;
}

void refuse_xacro(const Element& element) {
  if (element.name().starts_with("xacro:")) {
    fail(element, "this is a xacro file; run `xacro FILE > robot.urdf` and load that");
  }
  for (const pugi::xml_attribute attribute : element.node.attributes()) {
    const std::string_view value = attribute.value();
    if (value.find("${") != value.npos || value.find("$(") != value.npos) {
      fail(element, "attribute {} is '{:.60}', which xacro should have replaced; run the file through xacro",
           attribute.name(), value);
    }
  }
}

}  // namespace

void check_schema(Reader& reader) {
  std::vector<Element> pending{reader.tree.root()};
  while (!pending.empty()) {
    const Element element = pending.back();
    pending.pop_back();
    refuse_xacro(element);
    const Rule* rule = find_rule(element.name());
    if (rule == nullptr) continue;
    const std::vector<Element> children = reader.tree.children(element);
    for (auto child = children.rbegin(); child != children.rend(); ++child) pending.push_back(*child);
    for (const Element& child : children) {
      if (has_word(rule->children, child.name()) || child.name().starts_with("xacro:")) continue;
      reader.warnings.add_once(child, fmt::format("{}/{}", element.name(), child.name()), [&] {
        return fmt::format("the element has no meaning here inside <{}> and no effect{} (said once)",
                           element.name(), suggestion(child.name(), words(rule->children)));
      });
    }
  }
}

}  // namespace articula::urdf
