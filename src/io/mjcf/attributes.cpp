#include "io/mjcf/attributes.hpp"

#include <algorithm>

#include "io/numbers.hpp"

namespace articula::mjcf {

std::vector<double> numbers(const Element& element, const char* name, std::string_view text, bool infinite) {
  std::vector<double> result;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    std::optional<double> value = to_finite(word);
    if (!value && infinite) {
      const std::optional<double> any = to_number<double>(word);
      if (any && std::isinf(*any)) value = any;
    }
    if (!value) {
      fail(element,
           "attribute {}: '{:.40}' is not a finite number; write numbers like 1, -0.5 or 2e-3 with "
           "spaces between them",
           name, word);
    }
    result.push_back(*value);
  }
  return result;
}

const Element* Attributes::layer_with(const char* name) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (layer->attribute(name) != nullptr) return &*layer;
  }
  return nullptr;
}

std::string Attributes::text(const char* name) const {
  const Element* layer = layer_with(name);
  return layer == nullptr ? std::string() : layer->text(name);
}

std::string Attributes::required(const char* name) const {
  const Element* layer = layer_with(name);
  if (layer == nullptr || layer->text(name).empty()) fail(element(), "attribute {} is missing; add it", name);
  return layer->text(name);
}

bool Attributes::read(const char* name, std::span<double> values, std::size_t least) const {
  bool found = false;
  for (const Element& layer : layers_) {
    const char* text = layer.attribute(name);
    if (text == nullptr) continue;
    const std::vector<double> given = numbers(layer, name, text);
    if (given.size() < least || given.size() > values.size()) {
      fail(layer, "attribute {} has {} numbers; it needs {}", name, given.size(),
           least == values.size() ? fmt::format("{}", least) : fmt::format("{} to {}", least, values.size()));
    }
    std::copy(given.begin(), given.end(), values.begin());
    found = true;
  }
  return found;
}

std::vector<double> Attributes::list(const char* name) const {
  const Element* layer = layer_with(name);
  return layer == nullptr ? std::vector<double>() : numbers(*layer, name, layer->attribute(name));
}

bool Attributes::read(const char* name, double& value) const { return read(name, std::span(&value, 1), 1); }

bool Attributes::read(const char* name, int& value) const {
  const Element* layer = layer_with(name);
  if (layer == nullptr) return false;
  std::string_view text = layer->attribute(name);
  const std::optional<int> number = to_number<int>(next_word(text));
  if (!number || !next_word(text).empty()) {
    fail(*layer, "attribute {} is '{:.40}'; it must be a whole number (within 32 bits)", name,
         layer->attribute(name));
  }
  value = *number;
  return true;
}

bool Attributes::read(const char* name, bool& value) const {
  return read_keyword<bool>(name, {{"false", false}, {"true", true}}, value);
}

bool Attributes::read_range(const char* name, Vector2& value) const {
  const Element* layer = layer_with(name);
  if (layer == nullptr) return false;
  const std::vector<double> given = numbers(*layer, name, layer->attribute(name), true);
  if (given.size() != 2) fail(*layer, "attribute {} has {} numbers; it needs 2", name, given.size());
  value = {given[0], given[1]};
  return true;
}

bool read_switch(const Attributes& attributes, const char* name, Switch& value) {
  return attributes.read_keyword<Switch>(
      name, {{"false", Switch::no}, {"true", Switch::yes}, {"auto", Switch::automatic}}, value);
}

}  // namespace articula::mjcf
