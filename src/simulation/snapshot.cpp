#include "articula/simulation/snapshot.hpp"

#include <zlib.h>

#include <bit>
#include <cstring>

#include "articula/error.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

constexpr char magic[] = "ARTISNAP";  // 8 bytes
constexpr std::uint32_t version = 2;
constexpr size_t header_size = 8 + 4 + 4, least_size = header_size + 8 + 8;

// FNV-1a
struct Hash {
  std::uint64_t value = 14695981039346656037ull;

  void add(const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) value = (value ^ bytes[i]) * 1099511628211ull;
  }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(text.size());
    add(text.data(), text.size());
  }
  void add(const VectorX& numbers) {
    add(static_cast<std::uint64_t>(numbers.size()));
    add(numbers.data(), sizeof(double) * static_cast<size_t>(numbers.size()));
  }
};

static_assert(std::endian::native == std::endian::little, "snapshots are written as they lie in memory");

struct Writer {
  std::vector<std::byte> bytes;

  void raw(const void* data, size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
  template <class T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void vector(const VectorX& numbers) {
    raw(numbers.data(), sizeof(double) * static_cast<size_t>(numbers.size()));
  }
};

struct Reader {
  std::span<const std::byte> rest;

  void raw(void* data, size_t size) {
    if (size > rest.size()) throw Error("the snapshot ends too early");
    if (size > 0) std::memcpy(data, rest.data(), size);
    rest = rest.subspan(size);
  }
  template <class T>
  T number() {
    T value;
    raw(&value, sizeof value);
    return value;
  }
  void vector(VectorX& numbers, int size) {
    numbers.resize(size);
    raw(numbers.data(), sizeof(double) * static_cast<size_t>(size));
  }
};

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

void write_warm(Writer& to, const WarmStart& warm) {
  to.number(static_cast<std::uint8_t>(warm.law));
  to.number(static_cast<std::uint64_t>(warm.entries.size()));
  for (const WarmStart::Entry& entry : warm.entries) {
    to.number(entry.key);
    to.number(entry.rows);
    for (RowMode mode : entry.mode) to.number(static_cast<std::uint8_t>(mode));
    for (double d : entry.slide.d) to.number(d);
    to.number(entry.slide.speed);
    to.number(entry.slide.normal);
    for (double impulse : entry.impulse) to.number(impulse);
  }
}

template <class Enum>
Enum read_enum(Reader& from, Enum last, const char* what) {
  const auto value = from.number<std::uint8_t>();
  if (value > static_cast<std::uint8_t>(last))
    throw Error("the snapshot has an unknown {} ({})", what, value);
  return static_cast<Enum>(value);
}

WarmStart read_warm(Reader& from) {
  WarmStart warm;
  warm.law = read_enum(from, FrictionLaw::cone, "friction law");
  const auto count = from.number<std::uint64_t>();
  constexpr size_t entry_size = 8 + 1 + 6 + 13 * sizeof(double);
  if (count > from.rest.size() / entry_size) throw Error("the snapshot ends too early");
  warm.entries.resize(count);
  for (WarmStart::Entry& entry : warm.entries) {
    entry.key = from.number<std::uint64_t>();
    entry.rows = from.number<std::uint8_t>();
    if (entry.rows > entry.mode.size()) throw Error("the snapshot has a contact of {} rows", entry.rows);
    for (RowMode& mode : entry.mode) mode = read_enum(from, RowMode::yield_lower, "contact mode");
    for (double& d : entry.slide.d) d = from.number<double>();
    entry.slide.speed = from.number<double>();
    entry.slide.normal = from.number<double>();
    for (double& impulse : entry.impulse) impulse = from.number<double>();
  }
  return warm;
}

}  // namespace

std::uint64_t structure_hash(const Model& model) {
  const Structure& s = model.structure();
  Hash hash;
  for (const BodyIndex& body : s.bodies) {
    hash.add(body.name);
    hash.add(static_cast<std::uint64_t>(body.parent));
  }
  for (const JointIndex& joint : s.joints) {
    hash.add(joint.name);
    hash.add(static_cast<std::uint64_t>(joint.type));
    hash.add(static_cast<std::uint64_t>(joint.body));
  }
  for (const GeometryIndex& geometry : s.geometries) {
    hash.add(geometry.name);
    hash.add(static_cast<std::uint64_t>(geometry.body));
    hash.add(static_cast<std::uint64_t>(geometry.size_count));
  }
  for (const ActuatorIndex& actuator : s.actuators) {
    hash.add(actuator.name);
    hash.add(static_cast<std::uint64_t>(actuator.activation + 1));
  }
  return hash.value;
}

std::uint64_t state_hash(const State& state) {
  Hash hash;
  hash.add(state.q);
  hash.add(state.v);
  hash.add(state.activation);
  hash.add(std::bit_cast<std::uint64_t>(state.time));
  return hash.value;
}

std::vector<std::byte> to_bytes(const Model& model, const Snapshot& snapshot) {
  require_size("q", snapshot.state.q.size(), model.nq());
  require_size("v", snapshot.state.v.size(), model.nv());
  require_size("activation", snapshot.state.activation.size(), model.na());
  Writer payload;
  payload.number(snapshot.state.time);
  payload.vector(snapshot.state.q);
  payload.vector(snapshot.state.v);
  payload.vector(snapshot.state.activation);
  write_warm(payload, snapshot.warm);

  Writer checked;
  checked.number(structure_hash(model));
  checked.number(static_cast<std::uint64_t>(payload.bytes.size()));
  checked.raw(payload.bytes.data(), payload.bytes.size());
  Writer file;
  file.raw(magic, 8);
  file.number(version);
  file.number(checksum(checked.bytes));
  file.raw(checked.bytes.data(), checked.bytes.size());
  return file.bytes;
}

Snapshot from_bytes(const Model& model, std::span<const std::byte> bytes) {
  Reader reader{bytes};
  if (bytes.size() < 8 || std::memcmp(bytes.data(), magic, 8) != 0)
    throw Error("these bytes are no snapshot");
  reader.rest = bytes.subspan(8);
  const auto written = reader.number<std::uint32_t>();
  if (written != version)
    throw Error("the snapshot has version {}; this program reads version {}", written, version);
  if (bytes.size() < least_size) throw Error("the snapshot ends too early");
  const auto sum = reader.number<std::uint32_t>();
  const std::span<const std::byte> checked = reader.rest;
  const auto structure = reader.number<std::uint64_t>();
  const auto length = reader.number<std::uint64_t>();
  if (reader.rest.size() < length)
    throw Error("the snapshot ends too early: {} bytes are missing", length - reader.rest.size());
  if (reader.rest.size() > length)
    throw Error("{} bytes follow the end of the snapshot", reader.rest.size() - length);
  if (checksum(checked) != sum) throw Error("the snapshot is damaged: its checksum does not fit");
  if (structure != structure_hash(model))
    throw Error("the snapshot is of another model: bodies, joints, geometries or actuators differ");

  Snapshot snapshot;
  snapshot.state.time = reader.number<double>();
  reader.vector(snapshot.state.q, model.nq());
  reader.vector(snapshot.state.v, model.nv());
  reader.vector(snapshot.state.activation, model.na());
  snapshot.warm = read_warm(reader);
  if (!reader.rest.empty()) throw Error("the snapshot is longer than its content");
  return snapshot;
}

}  // namespace articula
