#include "articula/io/load.hpp"

#include <algorithm>
#include <system_error>

#include "articula/error.hpp"
#include "articula/io/paths.hpp"
#include "articula/io/sdf.hpp"
#include "articula/io/urdf.hpp"
#include "articula/model/names.hpp"
#include "io/files.hpp"
#include "io/numbers.hpp"

namespace articula {

namespace fs = std::filesystem;

namespace {

// A format is known by its outermost XML element.
struct Format {
  std::string_view root, name;
  Description (*load)(const fs::path&, const LoadOptions&);
};
constexpr std::array formats{Format{"mujoco", "MJCF", load_mjcf}, Format{"robot", "URDF", load_urdf},
                             Format{"sdf", "SDF", load_sdf}};

// The name of the first element, past the declaration, comments and document type; "" where there is none.
std::string_view root_element(std::string_view text) {
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!--")) {
      at = text.find("-->", at);
      if (at == text.npos) break;
      continue;
    }
    if (rest.starts_with("<!") || rest.starts_with("<?")) continue;
    return rest.substr(1, rest.find_first_of(" \t\r\n/>") - 1);
  }
  return "";
}

std::string list(const std::vector<std::string>& names, std::size_t most = 8) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? text + ", ..." : text;
}

std::vector<std::string> files_in(const fs::path& directory, std::string_view extension) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->path().extension() == extension) names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Description describe_file(const fs::path& path, const LoadOptions& options) {
  const std::string text = read_beginning(path, 65536);
  const std::string what = disguise(text);
  if (!what.empty()) throw Error("{}:1: this is {}", path.string(), what);
  const std::string_view root = root_element(text);
  std::string known;
  for (const Format& format : formats) {
    if (root == format.root) {
      if (!options.srdf.empty() && format.name != "URDF")
        throw Error("{}:1: this is {}, and an SRDF file goes with URDF only", path.string(), format.name);
      if (options.floating_base && format.name != "URDF") {
        throw Error("{}:1: this is {}, and a floating base is asked for URDF only; {}", path.string(),
                    format.name,
                    format.name == "MJCF" ? "put <freejoint/> into the root body"
                                          : "links without joints move freely as they are");
      }
      return format.load(path, options);
    }
    known += fmt::format("{}{} (<{}>)", known.empty() ? "" : ", ", format.name, format.root);
  }
  if (root == "mujocoinclude") {
    throw Error("{}:1: this file is a part that others include; name the model that includes it",
                path.string());
  }
  const bool readable = std::all_of(root.begin(), root.end(), [](char c) { return c > ' ' && c < 127; });
  throw Error("{}:1: {}; formats that are read: {}", path.string(),
              root.empty() || !readable ? "this is no model file: it has no XML element"
                                        : fmt::format("no format begins with <{:.40}>", root),
              known);
}

[[noreturn]] void refuse_directory(const fs::path& path) {
  std::vector<std::string> files;
  for (const char* extension : {".xml", ".urdf", ".sdf"}) {
    const std::vector<std::string> found = files_in(path, extension);
    files.insert(files.end(), found.begin(), found.end());
  }
  throw Error("{}: this is a directory; name a model file in it{}", path.string(),
              files.empty() ? "" : ": " + list(files));
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names = files_in(models_directory(), ".xml");
  for (std::string& name : names) name = fs::path(name).stem().string();
  return names;
}

Description describe(const std::string& name_or_path, const LoadOptions& options) {
  if (name_or_path.empty())
    throw Error("no name: give a file or a built-in model{}", suggestion("", model_names()));
  std::error_code ignored;
  const fs::path path(name_or_path);
  if (fs::is_regular_file(path, ignored)) return describe_file(path, options);
  const bool is_name =
      !name_or_path.empty() && name_or_path.find('/') == std::string::npos && !path.has_extension();
  if (is_name) {
    const fs::path file = models_directory() / (name_or_path + ".xml");
    if (fs::is_regular_file(file, ignored)) return describe_file(file, options);
    if (name_or_path.starts_with("chain")) {
      const std::optional<int> links = to_number<int>(std::string_view(name_or_path).substr(5));
      if (links) return chain(*links);
    }
  }
  if (fs::is_directory(path, ignored)) refuse_directory(path);
  if (fs::exists(path, ignored)) {
    throw Error("{}: this is not a regular file (a pipe, a socket or a device); copy what it gives to a file",
                name_or_path);
  }
  if (is_name) {
    throw Error("'{}' is neither a file nor a built-in model{}", name_or_path,
                suggestion(name_or_path, model_names()));
  }
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, ignored)) {
    throw Error("{}: there is no such file, and no directory {}", name_or_path, directory.string());
  }
  throw Error("{}: there is no such file{}", name_or_path,
              suggestion(path.filename().string(), files_in(directory, path.extension().string())));
}

Model load(const std::string& name_or_path, const LoadOptions& options) {
  return build(describe(name_or_path, options));
}

}  // namespace articula
