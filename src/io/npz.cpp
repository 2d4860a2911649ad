#include "articula/io/npz.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>

#include "articula/error.hpp"

namespace articula {

namespace {

using Bytes = std::vector<unsigned char>;

// ------------------------------------------------------------------ little-endian numbers

void put(Bytes& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> (8 * i)));
}

void put(Bytes& to, const std::string& text) { to.insert(to.end(), text.begin(), text.end()); }

std::uint64_t get(std::span<const unsigned char> from, std::size_t at, std::size_t bytes) {
  if (at > from.size() || from.size() - at < bytes) throw Error("the archive is cut short");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(from[at + i]) << (8 * i);
  return value;
}

std::span<const unsigned char> part(std::span<const unsigned char> from, std::size_t at, std::size_t size) {
  if (at > from.size() || from.size() - at < size) throw Error("the archive is cut short");
  return from.subspan(at, size);
}

// ------------------------------------------------------------------ one array (.npy, version 1)

Bytes npy_bytes(const NpyArray& array) {
  std::string shape;
  for (std::size_t extent : array.shape) shape += fmt::format("{},", extent);
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  Bytes bytes;
  put(bytes, std::string("\x93NUMPY\x01") + '\0');
  put(bytes, header.size(), 2);
  put(bytes, header);
  const auto* values = reinterpret_cast<const unsigned char*>(array.values.data());
  bytes.insert(bytes.end(), values, values + sizeof(double) * array.values.size());
  return bytes;
}

// The value of a key in the header, up to the given end.
std::string field(const std::string& header, const std::string& key, const char* begin, const char* end) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t from = at == std::string::npos ? at : header.find(begin, at + key.size() + 2);
  const std::size_t to = from == std::string::npos ? from : header.find(end, from + std::strlen(begin));
  if (to == std::string::npos) throw Error("the array's header has no '{}'", key);
  return header.substr(from + std::strlen(begin), to - from - std::strlen(begin));
}

template <class T>
void convert(std::span<const unsigned char> from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<double>(value);
  }
}

NpyArray parse_npy(std::span<const unsigned char> bytes) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) throw Error("it is no .npy array");
  const std::size_t wide = bytes[6] == 1 ? 2 : 4, size = get(bytes, 8, wide), begin = 8 + wide;
  const auto text = part(bytes, begin, size);
  const std::string header(text.begin(), text.end());
  if (field(header, "fortran_order", ":", ",").find("True") != std::string::npos)
    throw Error("it is stored by columns (fortran_order); save np.ascontiguousarray of it");
  NpyArray array;
  std::size_t count = 1;
  const std::string shape = field(header, "shape", "(", ")");
  for (std::size_t i = 0; i < shape.size();) {
    const std::size_t next = std::min(shape.find(',', i), shape.size());
    const std::string extent = shape.substr(i, next - i);
    if (extent.find_first_of("0123456789") != std::string::npos) {
      array.shape.push_back(std::stoull(extent));
      if (array.shape.back() != 0 && count > bytes.size() / array.shape.back())
        throw Error("the archive is cut short");
      count *= array.shape.back();
    }
    i = next + 1;
  }
  const std::string type = field(header, "descr", ": '", "'");
  struct Type {
    const char* name;
    std::size_t size;
    void (*read)(std::span<const unsigned char>, std::vector<double>&);
  };
  static constexpr Type types[] = {{"<f8", 8, convert<double>},       {"<f4", 4, convert<float>},
                                   {"<i8", 8, convert<std::int64_t>}, {"<i4", 4, convert<std::int32_t>},
                                   {"|u1", 1, convert<std::uint8_t>}, {"|b1", 1, convert<std::uint8_t>}};
  for (const Type& known : types) {
    if (type != known.name) continue;
    array.values.resize(count);
    known.read(part(bytes, begin + size, count * known.size), array.values);
    return array;
  }
  throw Error("its numbers are of type '{}'; float64, float32 and integers are read", type);
}

// ------------------------------------------------------------------ the archive

constexpr std::uint64_t local_mark = 0x04034b50, central_mark = 0x02014b50, end_mark = 0x06054b50;

struct Entry {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t size = 0, at = 0;
};

// What the local and the central header have in common: version, flags, method (stored), time, sums and
// sizes.
void put_common(Bytes& to, const Entry& entry) {
  put(to, 20, 2);
  put(to, 0, 2);
  put(to, 0, 2);
  put(to, 0, 2);
  put(to, 0x21, 2);  // 1 January 1980, so that equal arrays make equal files
  put(to, entry.crc, 4);
  put(to, entry.size, 4);
  put(to, entry.size, 4);
  put(to, entry.name.size(), 2);
  put(to, 0, 2);
}

Bytes inflated(std::span<const unsigned char> packed, std::size_t size) {
  Bytes out(size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error("zlib does not start");
  stream.next_in = const_cast<unsigned char*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(size);
  const int code = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (code != Z_STREAM_END || stream.total_out != size) throw Error("its compressed data are damaged");
  return out;
}

Bytes read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be opened", path.string());
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// The directory at the end names every entry: method, sizes and where it begins.
NpzArrays parse_archive(std::span<const unsigned char> file) {
  if (file.size() < 22 || get(file, 0, 4) != local_mark) throw Error("it is no .npz archive");
  std::size_t end = file.size() - 22;
  while (get(file, end, 4) != end_mark) {
    if (end == 0 || file.size() - end > 65557) throw Error("the archive is cut short");
    --end;
  }
  NpzArrays arrays;
  std::size_t at = get(file, end + 16, 4);
  for (std::uint64_t i = 0, count = get(file, end + 10, 2); i < count; ++i) {
    if (get(file, at, 4) != central_mark) throw Error("the archive's directory is damaged");
    const std::uint64_t method = get(file, at + 10, 2), crc = get(file, at + 16, 4),
                        packed = get(file, at + 20, 4), size = get(file, at + 24, 4),
                        name_size = get(file, at + 28, 2), begin = get(file, at + 42, 4);
    const auto name_bytes = part(file, at + 46, name_size);
    std::string name(name_bytes.begin(), name_bytes.end());
    at += 46 + name_size + get(file, at + 30, 2) + get(file, at + 32, 2);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    try {
      const std::size_t content = begin + 30 + get(file, begin + 26, 2) + get(file, begin + 28, 2);
      const auto stored = part(file, content, packed);
      if (method != 0 && method != 8) throw Error("its compression ({}) is not supported", method);
      if (method == 8 && size > 1100 * packed + 64) throw Error("its compressed data are damaged");
      const Bytes bytes = method == 8 ? inflated(stored, size) : Bytes(stored.begin(), stored.end());
      if (crc32_z(0, bytes.data(), bytes.size()) != crc) throw Error("its checksum does not fit");
      arrays[name] = parse_npy(bytes);
    } catch (const Error& error) {
      throw Error("array '{}': {}", name, error.what());
    }
  }
  return arrays;
}

}  // namespace

void write_npz(const std::filesystem::path& path, const NpzArrays& arrays) {
  Bytes file, directory;
  for (const auto& [name, array] : arrays) {
    const Bytes content = npy_bytes(array);
    Entry entry{name + ".npy", 0, content.size(), file.size()};
    entry.crc = static_cast<std::uint32_t>(crc32_z(0, content.data(), content.size()));
    if (entry.size + file.size() > 0xf0000000ull) throw Error("{}: more than 4 GB", path.string());
    put(file, local_mark, 4);
    put_common(file, entry);
    put(file, entry.name);
    file.insert(file.end(), content.begin(), content.end());
    put(directory, central_mark, 4);
    put(directory, 20, 2);
    put_common(directory, entry);
    put(directory, 0, 6);  // comment, disk, kind
    put(directory, 0, 4);  // attributes
    put(directory, entry.at, 4);
    put(directory, entry.name);
  }
  const std::size_t at = file.size();
  file.insert(file.end(), directory.begin(), directory.end());
  put(file, end_mark, 4);
  put(file, 0, 4);
  put(file, arrays.size(), 2);
  put(file, arrays.size(), 2);
  put(file, directory.size(), 4);
  put(file, at, 4);
  put(file, 0, 2);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  out.close();
  if (!out) throw Error("{}: cannot be written", path.string());
}

NpzArrays read_npz(const std::filesystem::path& path) {
  const Bytes file = read_all(path);
  try {
    return parse_archive(file);
  } catch (const Error& error) {
    throw Error("{}: {}", path.string(), error.what());
  } catch (const std::exception&) {  // numbers that are none, sizes without memory
    throw Error("{}: the archive is damaged", path.string());
  }
}

}  // namespace articula
