#pragma once
// The attributes of an MJCF element, on top of those its default class gives it.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "articula/math/types.hpp"
#include "io/xml.hpp"

namespace articula::mjcf {

using xml::Element;
using xml::fail;

// What a default class says of one kind of element: for every attribute the elements that give it, from the
// outermost class inwards. A list that is shorter than the one it overrides replaces only its first entries,
// so that several elements may count; what is overridden altogether is dropped, so that there are few of them
// however deep classes are nested.
class Defaults {
 public:
  struct Entry {
    std::string_view name;
    std::size_t words = 0;
    Element element;
  };

  // An element of the class itself, or of one nested in those so far.
  void add(const Element& element);
  std::span<const Entry> with(std::string_view name) const;
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;  // by name, then from the outermost inwards
};

// The forms of a rotation: an inner one overrides an outer one, whichever they are.
constexpr std::array rotation_forms{"quat", "axisangle", "euler", "xyaxes", "zaxis"};

// An element on top of its defaults.
class Attributes {
 public:
  explicit Attributes(const Element& element, const Defaults* defaults = nullptr)
      : element_(element),
        defaults_(defaults) {}

  const Element& element() const { return element_; }

  bool has(const char* name) const { return layer_with(name) != nullptr; }
  std::string text(const char* name) const;  // "" where it is absent
  std::string required(const char* name) const;

  // Each returns whether the attribute is there, and leaves the value alone where it is not.
  bool read(const char* name, double& value) const;
  bool read(const char* name, int& value) const;
  bool read(const char* name, bool& value) const;  // "true" or "false"
  bool read(const char* name, Vector3& value) const { return read(name, std::span(value.data(), 3), 3); }
  // At least `least` numbers, at most as many as `values` has.
  bool read(const char* name, std::span<double> values, std::size_t least) const;
  // Any number of numbers, of the innermost layer.
  std::vector<double> list(const char* name) const;
  // Two numbers in order; an infinite one on either side is left as it is.
  bool read_range(const char* name, Vector2& value) const;

  template <class Value>
  bool read_keyword(const char* name, std::initializer_list<std::pair<std::string_view, Value>> known,
                    Value& value) const {
    const Element* layer = layer_with(name);
    if (layer == nullptr) return false;
    const std::string_view word = layer->attribute(name);
    std::string list;
    for (const auto& [keyword, meaning] : known) {
      if (word == keyword) {
        value = meaning;
        return true;
      }
      list += fmt::format("{}'{}'", list.empty() ? "" : ", ", keyword);
    }
    fail(*layer, "attribute {} is '{:.60}'; it must be one of {}", name, word, list);
  }

  // The element itself or the innermost of its defaults with the attribute; null where there is none.
  const Element* layer_with(const char* name) const;

 private:
  void read_layer(const Element& layer, const char* name, std::span<double> values, std::size_t least) const;

  Element element_;
  const Defaults* defaults_;
};

// Numbers separated by white space, all finite unless `infinite` are welcome.
std::vector<double> numbers(const Element& element, const char* name, std::string_view text,
                            bool infinite = false);

enum class Switch { no, yes, automatic };  // "false", "true", "auto"
bool read_switch(const Attributes& attributes, const char* name, Switch& value);

}  // namespace articula::mjcf
