#include "articula/model/names.hpp"
#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

namespace {

constexpr std::size_t most_classes = 10'000, deepest_class = 200, most_copied = 500'000;

struct Pending {
  Element element;
  std::string parent;  // "" for the outermost
  std::size_t depth = 0;
};

std::string class_name(const Reader& reader, const Pending& pending) {
  const std::string given = pending.element.text("class");
  if (pending.parent.empty()) {
    if (!given.empty() && given != "main") {
      fail(pending.element,
           "the outermost default class is 'main' and cannot be named '{}'; put "
           "<default class=\"{}\"> inside another <default>",
           given, given);
    }
    return "main";
  }
  if (given.empty()) fail(pending.element, "attribute class is missing; a nested default class needs a name");
  if (reader.classes.contains(given)) fail(pending.element, "there is another default class '{}'", given);
  return given;
}

}  // namespace

// A class begins as a copy of its parent as that stands when the class is met, which is after the
// parent's own elements.
void read_defaults(Reader& reader) {
  reader.classes["main"].name = "main";
  std::size_t copied = 0;
  std::vector<Pending> pending;
  for (const Element& section : reader.tree.children(reader.tree.root(), "default")) {
    pending.push_back({section, "", 0});
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      const std::string name = class_name(reader, next);
      if (reader.classes.size() > most_classes || next.depth > deepest_class) {
        fail(next.element, "there are more than {} default classes, or they are nested more than {} deep",
             most_classes, deepest_class);
      }
      DefaultClass& own = reader.classes[name];
      if (!next.parent.empty()) {
        const DefaultClass& parent = reader.classes[next.parent];
        own = parent;
        for (const auto& [kind, defaults] : own.defaults) copied += 1 + defaults.size();
        if (copied > most_copied)
          fail(next.element, "the default classes give more than {} attributes", most_copied);
        own.actuator.enclosing = std::make_shared<const ActuatorDefaults>(parent.actuator);
      }
      own.name = name;
      const std::vector<Element> children = reader.tree.children(next.element);
      for (const Element& child : children) {
        if (child.name() == "default") continue;
        own.defaults[std::string(child.name())].add(child);
        add_actuator_default(own.actuator, child);
      }
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        if (child->name() == "default") pending.push_back({*child, name, next.depth + 1});
      }
    }
  }
}

const DefaultClass& find_class(const Reader& reader, const Element& element, const char* attribute) {
  const std::string name = element.text(attribute);
  const auto found = reader.classes.find(name);
  if (found != reader.classes.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, unused] : reader.classes) known.push_back(other);
  fail(element, "attribute {}: there is no default class '{}'{}", attribute, name, suggestion(name, known));
}

const DefaultClass& class_of(const Reader& reader, const Element& element, const DefaultClass* surrounding) {
  if (element.attribute("class") != nullptr) return find_class(reader, element, "class");
  return surrounding != nullptr ? *surrounding : reader.classes.find("main")->second;
}

Attributes with_defaults(const Reader& reader, const Element& element, std::string_view kind,
                         const DefaultClass* surrounding) {
  const DefaultClass& own = class_of(reader, element, surrounding);
  const auto found = own.defaults.find(kind);
  return Attributes(element, found == own.defaults.end() ? nullptr : &found->second);
}

}  // namespace articula::mjcf
