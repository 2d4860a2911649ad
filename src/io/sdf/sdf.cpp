#include "articula/io/sdf.hpp"

#include "io/mimic.hpp"
#include "io/numbers.hpp"
#include "io/order.hpp"
#include "io/sdf/reader.hpp"

namespace articula {

namespace sdf {

namespace {

void check_version(Reader& reader, const Element& root) {
  const std::string version = root.text("version");
  const std::optional<double> number = to_finite(version);
  if (!number || *number < 1.0)
    fail(root, "attribute version is '{:.20}'; it must be a number like 1.7", version);
  const std::size_t point = version.find('.');
  const std::optional<int> minor =
      point == version.npos ? std::nullopt : to_number<int>(std::string_view(version).substr(point + 1));
  if (*number < 2.0 && minor && *minor < 6) {
    reader.warn(root,
                fmt::format("SDF {} is older than what is supported (1.6); it is read as 1.6", version));
  }
}

Description describe(xml::Tree tree, const std::filesystem::path& directory,
                     const std::filesystem::path& file, const LoadOptions& options) {
  Reader reader{options};
  reader.trees.push_back(std::make_unique<xml::Tree>(std::move(tree)));
  if (!file.empty()) reader.open_files.push_back(file);
  const Element root = reader.trees.front()->root();
  if (root.name() != "sdf") fail(root, "the outermost element of an SDF file is <sdf>");
  check_version(reader, root);
  check_children(reader, root);

  Scope world_scope;
  world_scope.name = world_scope.frame = "world";
  world_scope.element = root;
  world_scope.directory = directory;
  reader.scopes.push_back(std::move(world_scope));
  Node world_node;
  world_node.element = root;
  world_node.state = Node::State::done;
  reader.nodes.emplace("world", std::move(world_node));

  const std::vector<Element> worlds = children_of(root, "world"), models = children_of(root, "model");
  if (worlds.size() > 1) fail(worlds[1], "there are several worlds; keep one in the file");
  if (worlds.empty() && models.empty()) fail(root, "there is neither a <model> nor a <world> in it; add one");
  if (!worlds.empty()) {
    read_world(reader, worlds.front(), directory);
  } else {
    reader.description.name = models.front().text("name");
    for (const Element& model : models) {
      read_model(reader, model, 0, models.size() == 1 ? "" : model.text("name") + "::", directory, {});
    }
  }
  connect_joints(reader);
  build_tree(reader);
  refuse_circles_of_mimics(reader.description);
  reader.meshes.move_to(reader.description);
  order_as_tree(reader.description);
  reader.description.warnings = reader.warnings.take();
  return std::move(reader.description);
}

}  // namespace

}  // namespace sdf

Description load_sdf(const std::filesystem::path& file, const LoadOptions& options) {
  return sdf::describe(xml::Tree::read(file, ""), file.parent_path(), file, options);
}

Description parse_sdf(std::string_view text, const std::filesystem::path& directory,
                      const LoadOptions& options) {
  return sdf::describe(xml::Tree::parse(text, options.name, directory, ""), directory, {}, options);
}

}  // namespace articula
