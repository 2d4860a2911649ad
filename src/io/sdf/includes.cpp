#include <system_error>

#include "io/resources.hpp"
#include "io/sdf/reader.hpp"

namespace articula::sdf {

namespace fs = std::filesystem;

namespace {

// A model's directory has a model.config that names its SDF files, newest last; or simply a model.sdf.
fs::path find_model(const Reader& reader, const Element& uri, const fs::path& directory) {
  const std::string text = text_of(uri);
  const auto find = [&](const std::string& suffix) {
    return find_resource(text + suffix, directory, reader.options);
  };
  if (text.ends_with(".sdf") || text.ends_with(".world")) return find("");
  try {
    const fs::path config = find("/model.config");
    const xml::Tree tree = xml::Tree::read(config, "");
    const std::vector<Element> files = children_of(tree.root(), "sdf");
    if (!files.empty()) return config.parent_path() / text_of(files.back());
  } catch (const Error&) {  // the next try says what is missing
  }
  return find("/model.sdf");
}

}  // namespace

bool merges(const Element& include) {
  if (!include.node) return false;
  const std::string merge = include.text("merge");
  if (merge.empty() || merge == "false" || merge == "0") return false;
  if (merge != "true" && merge != "1") {
    fail(include, "attribute merge is '{:.20}'; it must be true or false", merge);
  }
  return true;
}

int read_include(Reader& reader, const Element& include, int scope_index) {
  const Element uri = child_of(include, "uri");
  if (!uri.node || text_of(uri).empty()) fail(include, "<uri> is missing; name the model to include");
  constexpr std::size_t deepest = 20, most = 500;
  if (reader.open_files.size() >= deepest || ++reader.included > most) {
    fail(include, "includes are nested more than {} deep, or there are more than {}", deepest, most);
  }
  const Scope scope = reader.scopes[static_cast<std::size_t>(scope_index)];
  if (merges(include) && scope.name == "world") {
    fail(include, "merge joins a model with the one around it, and there is none around it; leave it out");
  }
  fs::path file;
  try {
    file = find_model(reader, uri, scope.directory);
  } catch (const Error& error) {
    fail(uri, "{}", error.what());
  }
  std::error_code ignored;
  for (const fs::path& open : reader.open_files) {
    if (fs::equivalent(open, file, ignored))
      fail(uri, "file '{}' includes itself; remove the include that closes the circle", file.string());
  }
  reader.trees.push_back(std::make_unique<xml::Tree>(xml::Tree::read(file, "")));
  const Element root = reader.trees.back()->root();
  if (root.name() != "sdf") fail(root, "the outermost element of an included file must be <sdf>");
  const Element model = child_of(root, "model");
  if (!model.node) fail(root, "there is no <model> in it to include");
  const std::string name =
      child_of(include, "name").node ? text_of(child_of(include, "name")) : model.text("name");
  reader.open_files.push_back(file);
  const int index =
      read_model(reader, model, scope_index, scope.prefix + name + "::", file.parent_path(), include);
  reader.open_files.pop_back();
  return index;
}

}  // namespace articula::sdf
