#include "io/resources.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "articula/error.hpp"

namespace articula {

namespace fs = std::filesystem;

namespace {

// The directories listed in an environment variable, each with `below` appended.
void append_listed(std::vector<fs::path>& places, const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  std::string_view list = value == nullptr ? "" : value;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) places.push_back(fs::path(list.substr(0, end)) / below);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

std::vector<fs::path> places_of_packages(const fs::path& directory,
                                         const std::vector<fs::path>& search_path) {
  std::vector<fs::path> places = search_path;
  for (const fs::path& entry : search_path) places.push_back(entry.parent_path());  // it may be the package
  append_listed(places, "ROS_PACKAGE_PATH", "");
  append_listed(places, "AMENT_PREFIX_PATH", "share");
  append_listed(places, "GZ_SIM_RESOURCE_PATH", "");
  append_listed(places, "GAZEBO_MODEL_PATH", "");
  std::error_code ignored;
  const fs::path beside = directory.empty() ? fs::current_path(ignored) : fs::absolute(directory, ignored);
  for (fs::path above = beside.lexically_normal(); !above.empty(); above = above.parent_path()) {
    places.push_back(above);
    if (above == above.parent_path()) break;
  }
  return places;
}

std::optional<fs::path> find_in(const std::vector<fs::path>& places, const fs::path& relative) {
  std::error_code ignored;
  for (const fs::path& place : places) {
    fs::path candidate = place / relative;
    if (fs::is_regular_file(candidate, ignored)) return candidate.lexically_normal();
  }
  return std::nullopt;
}

}  // namespace

fs::path find_resource(const std::string& uri, const fs::path& directory, const LoadOptions& options) {
  if (!options.other_files) throw Error("'{}' is another file, and the options allow none", uri);
  std::string path = uri;
  if (path.empty()) throw Error("it names no file");
  if (path.find("$(") != path.npos || path.find("${") != path.npos) {
    throw Error("'{}' has a placeholder left in it; run the file through xacro first", uri);
  }
  const std::size_t scheme_end = path.find("://");
  const std::string scheme = scheme_end == path.npos ? "" : path.substr(0, scheme_end);
  if (scheme == "http" || scheme == "https") {
    throw Error("'{}' is on the network; download it, and name the local file", uri);
  }
  if (scheme_end != path.npos) path.erase(0, scheme_end + 3);
  const bool in_package = scheme == "package" || scheme == "model";
  if (in_package) path.erase(0, path.find_first_not_of('/'));
  std::error_code ignored;
  if (!in_package && fs::path(path).is_absolute() && fs::is_regular_file(path, ignored)) return path;

  const std::vector<fs::path> places = places_of_packages(directory, options.search_path);
  if (!in_package && fs::is_regular_file(directory / path, ignored)) return directory / path;
  if (const auto found = find_in(places, fs::path(path).relative_path())) return *found;
  const std::size_t slash = path.find('/');
  if (in_package && slash != path.npos) {
    if (const auto found = find_in(places, path.substr(slash + 1))) return *found;
  }
  throw Error("there is no file '{}', neither beside {} nor above it nor in the search path; {}", uri,
              directory.empty() ? "the description" : directory.string(),
              in_package
                  ? fmt::format("add the directory that holds '{}' to the search path", path.substr(0, slash))
                  : "correct it, or add its directory to the search path");
}

}  // namespace articula
