#include "io/mjcf/attributes.hpp"

#include <algorithm>

#include "io/numbers.hpp"

namespace articula::mjcf {

std::vector<double> numbers(const Element& element, const char* name, std::string_view text, bool infinite) {
  std::vector<double> result;
  result.reserve(count_words(text));
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

namespace {

bool is_rotation(std::string_view name) {
  return std::find(rotation_forms.begin(), rotation_forms.end(), name) != rotation_forms.end();
}

bool comes_before(const Defaults::Entry& entry, std::string_view name) { return entry.name < name; }

}  // namespace

void Defaults::add(const Element& element) {
  constexpr std::size_t most = 1000;
  for (const pugi::xml_attribute attribute : element.node.attributes()) {
    const Entry added{attribute.name(), count_words(attribute.value()), element};
    std::erase_if(entries_, [&](const Entry& old) {
      if (old.element.node == element.node) return false;
      const bool overridden = old.name == added.name && old.words <= added.words;
      return overridden || (is_rotation(old.name) && is_rotation(added.name));
    });
    auto at = std::lower_bound(entries_.begin(), entries_.end(), added.name, comes_before);
    while (at != entries_.end() && at->name == added.name) ++at;
    entries_.insert(at, added);
    if (entries_.size() > most) {
      fail(element, "the default classes give <{}> more than {} attributes", element.name(), most);
    }
  }
}

std::span<const Defaults::Entry> Defaults::with(std::string_view name) const {
  const auto begin = std::lower_bound(entries_.begin(), entries_.end(), name, comes_before);
  auto end = begin;
  while (end != entries_.end() && end->name == name) ++end;
  return {begin, end};
}

const Element* Attributes::layer_with(const char* name) const {
  if (element_.attribute(name) != nullptr) return &element_;
  const std::span<const Defaults::Entry> found =
      defaults_ == nullptr ? std::span<const Defaults::Entry>() : defaults_->with(name);
  return found.empty() ? nullptr : &found.back().element;
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

void Attributes::read_layer(const Element& layer, const char* name, std::span<double> values,
                            std::size_t least) const {
  const std::size_t count = count_words(layer.attribute(name));
  const bool commas = std::string_view(layer.attribute(name)).find(',') != std::string_view::npos;
  if (commas) numbers(layer, name, layer.attribute(name));  // throws, and says that spaces separate them
  if (count < least || count > values.size()) {
    fail(layer, "attribute {} has {} numbers; it needs {}", name, count,
         least == values.size() ? fmt::format("{}", least) : fmt::format("{} to {}", least, values.size()));
  }
  const std::vector<double> given = numbers(layer, name, layer.attribute(name));
  std::copy(given.begin(), given.end(), values.begin());
}

bool Attributes::read(const char* name, std::span<double> values, std::size_t least) const {
  bool found = false;
  if (defaults_ != nullptr) {
    for (const Defaults::Entry& entry : defaults_->with(name)) {
      read_layer(entry.element, name, values, least);
      found = true;
    }
  }
  if (element_.attribute(name) == nullptr) return found;
  read_layer(element_, name, values, least);
  return true;
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
