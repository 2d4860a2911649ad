#include "io/xml.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "io/files.hpp"

namespace articula::xml {

namespace fs = std::filesystem;

namespace {

std::vector<std::uint32_t> find_line_starts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    starts.push_back(static_cast<std::uint32_t>(at + 1));
  }
  return starts;
}

// pugixml needs some sixty bytes for an element and forty for an attribute, however short.
void require_within(const Limits& limits, std::string_view text, const std::string& name) {
  if (text.size() > limits.bytes) {
    throw Error(
        "{}:1: the file has {} bytes, more than the {} that are read; put large meshes and "
        "height fields into files of their own",
        name, text.size(), limits.bytes);
  }
  const std::string what = disguise(text);
  if (!what.empty()) throw Error("{}:1: this is {}", name, what);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines > limits.lines) {
    throw Error("{}:1: the file has {} lines, more than the {} that are read; remove empty ones", name, lines,
                limits.lines);
  }
  const auto tags = static_cast<std::size_t>(std::count(text.begin(), text.end(), '<'));
  const auto assignments = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  if (tags > limits.tags || assignments > limits.attributes) {
    throw Error(
        "{}:1: the file has about {} tags and {} attributes, more than the {} and {} that are "
        "read; split the model",
        name, tags, assignments, limits.tags, limits.attributes);
  }
}

// "<geom>: ", the last tag that begins before `offset`; the parser has cut names off with a zero.
std::string tag_before(std::string_view text, std::ptrdiff_t offset) {
  text = text.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)) + 1);
  const std::size_t begin = text.rfind('<');
  if (begin == text.npos) return "";
  const std::size_t end = text.find_first_of(std::string_view("\0 \t\r\n>", 6), begin);
  return fmt::format("<{:.40}>: ", text.substr(begin + 1, end == text.npos ? end : end - begin - 1));
}

pugi::xml_node document_element(const File& file) {
  pugi::xml_node root = file.document.document_element();
  if (!root) throw Error("{}:1: the file holds no XML element", file.name);
  for (pugi::xml_node other = root.next_sibling(); other; other = other.next_sibling()) {
    if (other.type() == pugi::node_element) {
      throw Error("{}:{}: <{}> stands after the end of <{}>; a file has one outermost element", file.name,
                  file.line(other.offset_debug()), other.name(), root.name());
    }
  }
  return root;
}

std::string read_included(const Element& element, const fs::path& path, std::size_t limit) try {
  return read_file(path, limit);
} catch (const Error& error) {
  fail(element, "attribute file: {}", error.what());
}

}  // namespace

int File::line(std::ptrdiff_t offset) const {
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  return std::max(1, static_cast<int>(after - line_starts.begin()));
}

std::string Element::where() const {
  return fmt::format("{}:{}", file->name, file->line(node.offset_debug()));
}

std::string Element::label() const {
  const char* given = attribute("name");
  if (given == nullptr) return fmt::format("{}: <{}>", where(), node.name());
  return fmt::format("{}: <{} name=\"{:.100}\">", where(), node.name(), given);
}

const char* Element::attribute(const char* name) const {
  const pugi::xml_attribute found = node.attribute(name);
  return found ? found.value() : nullptr;
}

std::string Element::text(const char* name) const { return node.attribute(name).value(); }

Element child_of(const Element& parent, std::string_view name) {
  for (pugi::xml_node node = parent.node.first_child(); node; node = node.next_sibling()) {
    if (node.type() == pugi::node_element && name == node.name()) return {node, parent.file};
  }
  return {};
}

Tree Tree::read(const fs::path& path, std::string_view include_name, const Limits& limits) {
  Tree tree;
  tree.include_name_ = include_name;
  tree.limits_ = limits;
  tree.directory_ = path.parent_path();
  tree.resolve_includes(tree.add(read_file(path, limits.bytes), path.string(), path));
  return tree;
}

Tree Tree::parse(std::string_view text, const std::string& name, const fs::path& directory,
                 std::string_view include_name, const Limits& limits) {
  Tree tree;
  tree.include_name_ = include_name;
  tree.limits_ = limits;
  tree.directory_ = directory;
  require_within(limits, text, name);
  tree.resolve_includes(tree.add(std::string(text), name, directory / name));
  return tree;
}

const File& Tree::add(std::string text, const std::string& name, const fs::path& path) {
  require_within(limits_, text, name);
  File& file = files_.emplace_back();
  file.name = name;
  file.path = path;
  file.text = std::move(text);
  file.line_starts = find_line_starts(file.text);
  const pugi::xml_parse_result result = file.document.load_buffer_inplace(
      file.text.data(), file.text.size(), pugi::parse_escapes, pugi::encoding_utf8);
  if (!result) {
    throw Error("{}:{}: {}this is not well-formed XML: {}; check that tags and quotes are closed", name,
                file.line(result.offset), tag_before(file.text, result.offset), result.description());
  }
  document_element(file);
  return file;
}

// Everything that reads an element later looks its attributes up one by one.
void Tree::check(const Element& element) {
  if (++elements_ > limits_.elements) {
    fail(element, "the model has more than {} elements; split it", limits_.elements);
  }
  attribute_names_.clear();
  for (const pugi::xml_attribute attribute : element.node.attributes()) {
    attribute_names_.emplace_back(attribute.name());
    if (attribute_names_.size() > limits_.element_attributes) {
      fail(element, "the element has more than {} attributes; no element needs as many",
           limits_.element_attributes);
    }
  }
  std::sort(attribute_names_.begin(), attribute_names_.end());
  const auto twice = std::adjacent_find(attribute_names_.begin(), attribute_names_.end());
  if (twice != attribute_names_.end())
    fail(element, "attribute {:.60} is given twice; keep one of them", *twice);
}

// Walks the file in document order along the sibling and parent links.
void Tree::resolve_includes(const File& file) {
  std::size_t depth = 0;
  const pugi::xml_node top = document_element(file);
  for (pugi::xml_node node = top; node;) {
    if (node.type() == pugi::node_element) check({node, &file});
    if (!include_name_.empty() && include_name_ == node.name()) include(file, node);
    if (node.first_child()) {
      node = node.first_child();
      if (++depth > limits_.depth) {
        fail(Element{node, &file}, "elements are nested more than {} deep; flatten the model", limits_.depth);
      }
      continue;
    }
    while (node != top && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (node == top) break;
    node = node.next_sibling();
  }
}

void Tree::include(const File& file, pugi::xml_node node) {
  const Element element{node, &file};
  const std::string name = element.text("file");
  if (name.empty()) fail(element, "attribute file is missing; name the file to include");
  if (limits_.files == 0) fail(element, "other files are not read here; put their elements into this text");
  if (files_.size() > limits_.files) {
    fail(element, "more than {} files are included", limits_.files);
  }
  // Relative to the main file, as MuJoCo has it; else to the file that includes.
  std::error_code ignored;
  fs::path path = directory_ / name;
  if (!fs::exists(path, ignored)) {
    const fs::path beside = file.path.parent_path() / name;
    if (!fs::exists(beside, ignored)) {
      fail(element, "file '{}' is neither at {} nor at {}", name, path.string(), beside.string());
    }
    path = beside;
  }
  for (const File& known : files_) {
    if (known.path == path || fs::equivalent(known.path, path, ignored)) {
      fail(element,
           "file '{}' is already part of the model; a file can be included only once "
           "(a cycle of includes never ends)",
           name);
    }
  }
  const File& added = add(read_included(element, path, limits_.bytes), path.string(), path);
  if (!document_element(added).first_child()) {
    fail(element, "file '{}' has nothing in it to include", name);
  }
  included_.emplace(node.internal_object(), &added);
  resolve_includes(added);
}

Element Tree::root() const { return {document_element(files_.front()), &files_.front()}; }

std::vector<Element> Tree::children(const Element& parent) const {
  std::vector<Element> result;
  for (pugi::xml_node node = parent.node.first_child(); node; node = node.next_sibling()) {
    if (node.type() != pugi::node_element) continue;
    const auto found = included_.empty() ? included_.end() : included_.find(node.internal_object());
    if (found == included_.end()) {
      result.push_back({node, parent.file});
      continue;
    }
    const std::vector<Element> inner = children({document_element(*found->second), found->second});
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

std::vector<Element> Tree::children(const Element& parent, std::string_view name) const {
  std::vector<Element> result = children(parent);
  std::erase_if(result, [&](const Element& child) { return child.name() != name; });
  return result;
}

}  // namespace articula::xml
