#include "io/files.hpp"

#include <fstream>
#include <system_error>

#include "articula/error.hpp"

namespace articula {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path, std::size_t limit) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    throw Error("{}: this is a directory; name a file in it", path.string());
  }
  // Opening a pipe would wait for who writes to it.
  if (fs::exists(path, failed) && !fs::is_regular_file(path, failed)) {
    throw Error("{}: this is not a regular file (a pipe, a socket or a device); copy what it gives to a file",
                path.string());
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw Error("{}: {}", path.string(),
                fs::exists(path, failed) ? "the file cannot be read; check its permissions"
                                         : "there is no such file");
  }
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(stream.tellg());
  if (size < 0) throw Error("{}: this is not a regular file", path.string());
  if (static_cast<std::size_t>(size) > limit) {
    throw Error("{}: the file has {} bytes, more than the {} that are read", path.string(), size, limit);
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(text.data(), size)) throw Error("{}: reading failed", path.string());
  return text;
}

std::string read_beginning(const fs::path& path, std::size_t most) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error("{}: the file cannot be read; check its permissions", path.string());
  std::string text(most, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string disguise(std::string_view text) {
  const auto begins = [&](std::string_view with) { return text.starts_with(with); };
  using namespace std::string_view_literals;
  if (begins("\xff\xfe"sv) || begins("\xfe\xff"sv) || begins("<\0"sv) || begins("\0<"sv))
    return "UTF-16 text; save it as UTF-8";
  if (begins("version https://git-lfs"sv)) return "a pointer of Git LFS; run `git lfs pull` to get the file";
  if (begins("PK\x03\x04"sv) || begins("\x1f\x8b"sv) || begins("BZh"sv) ||
      begins("\xfd"
             "7zXZ"sv) ||
      (text.size() > 262 && text.substr(257, 5) == "ustar"))
    return "an archive; unpack it and name the file in it";
  if (begins("<!DOCTYPE html"sv) || begins("<!doctype html"sv) || begins("<html"sv))
    return "a web page; download the file itself";
  return "";
}

}  // namespace articula
