#pragma once
// XML as the loaders see it: a tree of elements that know the file and the line they stand at.
//
// Nothing here recurses, so that a file of ten thousand nested elements is read like any other, and
// everything that could make a small file need much time or memory is bounded before it is parsed.

#include <fmt/format.h>
#include <pugixml.hpp>

#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "articula/error.hpp"

namespace articula::xml {

struct Limits {
  std::size_t bytes = std::size_t{32} << 20;  // of one file
  std::size_t lines = 4'000'000;              // of one file
  std::size_t tags = 1'000'000;               // start and end tags of one file
  std::size_t attributes = 1'500'000;         // of one file
  std::size_t elements = 400'000;             // of all files together
  std::size_t element_attributes = 100;       // of one element
  std::size_t depth = 10'000;                 // of nesting
  std::size_t files = 200;                    // included
};

struct File {
  std::string name;  // for messages
  std::filesystem::path path;
  std::string text;  // parsed in place
  std::vector<std::uint32_t> line_starts;
  pugi::xml_document document;

  int line(std::ptrdiff_t offset) const;
};

struct Element {
  pugi::xml_node node;
  const File* file = nullptr;

  std::string_view name() const { return node.name(); }
  std::string where() const;                      // "robot.xml:12"
  std::string label() const;                      // "robot.xml:12: <geom name="foot">"
  const char* attribute(const char* name) const;  // null where it is absent
  std::string text(const char* name) const;       // "" where it is absent
};

// The first child of that name, as it stands in the file; an element without a node where there is none.
Element child_of(const Element& parent, std::string_view name);

// Throws an Error that begins with the element's label. However long a name in it is, it can be read.
template <class... Arguments>
[[noreturn]] void fail(const Element& element, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  throw Error(fmt::format("{}: {:.1000}", element.label(),
                          fmt::format(format, std::forward<Arguments>(arguments)...)));
}

// A file and all files it includes. `include_name` is the element that includes ("" for none): its
// `file` attribute names a file whose root's children take its place.
class Tree {
 public:
  static Tree read(const std::filesystem::path& path, std::string_view include_name,
                   const Limits& limits = {});
  static Tree parse(std::string_view text, const std::string& name, const std::filesystem::path& directory,
                    std::string_view include_name, const Limits& limits = {});

  Element root() const;
  std::vector<Element> children(const Element& parent) const;
  std::vector<Element> children(const Element& parent, std::string_view name) const;
  const std::filesystem::path& directory() const { return directory_; }

 private:
  const File& add(std::string text, const std::string& name, const std::filesystem::path& path);
  void resolve_includes(const File& file);
  void check(const Element& element);
  void include(const File& file, pugi::xml_node node);

  std::filesystem::path directory_;
  std::string include_name_;
  Limits limits_;
  std::size_t elements_ = 0;  // of all files
  std::vector<std::string_view> attribute_names_;
  std::deque<File> files_;
  std::unordered_map<const void*, const File*> included_;
};

}  // namespace articula::xml
