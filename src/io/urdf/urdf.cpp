#include "articula/io/urdf.hpp"

#include "io/mimic.hpp"
#include "io/order.hpp"
#include "io/urdf/reader.hpp"

namespace articula {

namespace urdf {

Pose read_origin(const Element& parent) {
  Pose pose;
  const Element origin = child_of(parent, "origin");
  if (!origin.node) return pose;
  const Attributes a(origin);
  Vector3 rpy = Vector3::Zero();
  a.read("xyz", pose.position);
  a.read("rpy", rpy);
  pose.rotation = rotation_of_rpy(rpy);
  return pose;
}

int find(const std::unordered_map<std::string, int>& index, const std::string& name) {
  const auto found = index.find(name);
  return found == index.end() ? -1 : found->second;
}

std::vector<std::string> names_of(const std::vector<Link>& links) {
  std::vector<std::string> names;
  for (const Link& link : links) names.push_back(link.name);
  return names;
}

namespace {

Description read(const xml::Tree& tree, const std::filesystem::path& directory, const LoadOptions& options) {
  const Element root = tree.root();
  if (root.name() != "robot") fail(root, "the outermost element of a URDF file is <robot>");
  Reader reader{tree, options, directory};
  reader.description.name = root.text("name");
  check_schema(reader);
  read_links(reader);
  read_joints(reader);
  read_disabled_pairs(reader);
  build_tree(reader);
  read_mimics(reader);
  refuse_circles_of_mimics(reader.description);
  add_exclusions(reader);
  read_frames(reader);
  reader.meshes.move_to(reader.description);
  order_as_tree(reader.description);
  leave_out_overlaps(reader);
  reader.description.warnings = reader.warnings.take();
  return std::move(reader.description);
}

}  // namespace

}  // namespace urdf

Description load_urdf(const std::filesystem::path& file, const LoadOptions& options) {
  return urdf::read(xml::Tree::read(file, ""), file.parent_path(), options);
}

Description parse_urdf(std::string_view text, const std::filesystem::path& directory,
                       const LoadOptions& options) {
  return urdf::read(xml::Tree::parse(text, options.name, directory, ""), directory, options);
}

}  // namespace articula
