#include "io/mesh/imported.hpp"

#include <assimp/Importer.hpp>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>

#include "articula/error.hpp"
#include "io/mesh/checks.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARTICULA_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARTICULA_ADDRESS_SANITIZER 1
#endif

namespace articula {

namespace {

// What comes through the pipe: this, then the coordinates (floats), the corners (32 bits), the message.
struct Header {
  std::uint64_t vertices = 0, faces = 0, message = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// ------------------------------------------------------------------ in the process that imports

void write_all(int fd, const void* data, std::size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1);
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

// Address space that is mapped already, libraries and all, does not count.
void limit_resources(const MeshLimits& limits) {
#ifndef ARTICULA_ADDRESS_SANITIZER  // it maps terabytes of shadow
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t space = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + limits.import_memory;
  const rlimit memory{space, space};
  setrlimit(RLIMIT_AS, &memory);
#endif
  const auto seconds = static_cast<rlim_t>(limits.import_seconds) + 1;
  const rlimit time{seconds, seconds};
  setrlimit(RLIMIT_CPU, &time);
  const rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
}

struct Triangles {
  std::vector<float> coordinates;
  std::vector<std::int32_t> corners;
};

std::string too_much_memory(const MeshLimits& limits) {
  return fmt::format(
      "importing it takes more than {} MB: its header promises more than it holds, or the mesh is too large; "
      "export the mesh again, or simplify it",
      limits.import_memory >> 20);
}

std::string import_triangles(const std::string& path, const MeshLimits& limits, Triangles& out) {
  Assimp::Importer importer;
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  importer.SetPropertyBool(AI_CONFIG_PP_PTV_KEEP_HIERARCHY, false);
  const aiScene* scene =
      importer.ReadFile(path, aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_GlobalScale);
  if (scene == nullptr) {
    const std::string error = importer.GetErrorString();
    if (error.find("bad_alloc") != error.npos || error.find("allocat") != error.npos)
      return too_much_memory(limits);
    return fmt::format("{}; export the mesh again, preferably as OBJ or binary STL", error);
  }
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& mesh = *scene->mMeshes[m];
    const auto first = static_cast<std::int32_t>(out.coordinates.size() / 3);
    if (out.coordinates.size() / 3 + mesh.mNumVertices > limits.vertices) {
      return fmt::format("more than {} vertices; simplify the mesh", limits.vertices);
    }
    for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
      const aiVector3D& v = mesh.mVertices[i];
      out.coordinates.insert(out.coordinates.end(), {v.x, v.y, v.z});
    }
    for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
      const aiFace& face = mesh.mFaces[i];
      if (face.mNumIndices != 3) continue;  // points and lines
      for (unsigned k = 0; k < 3; ++k) {
        out.corners.push_back(first + static_cast<std::int32_t>(face.mIndices[k]));
      }
    }
    if (out.corners.size() / 3 > limits.triangles) {
      return fmt::format("more than {} triangles; simplify the mesh", limits.triangles);
    }
  }
  return "";
}

[[noreturn]] void import_and_exit(int fd, const std::string& path, const MeshLimits& limits) {
  std::string message;
  Triangles triangles;
  limit_resources(limits);
  try {
    message = import_triangles(path, limits, triangles);
  } catch (const std::bad_alloc&) {
    message = too_much_memory(limits);
  } catch (const std::exception& error) {
    message = fmt::format("{}; export the mesh again, preferably as OBJ or binary STL", error.what());
  }
  if (!message.empty()) triangles = {};
  const Header header{triangles.coordinates.size() / 3, triangles.corners.size() / 3, message.size()};
  write_all(fd, &header, sizeof header);
  write_all(fd, triangles.coordinates.data(), triangles.coordinates.size() * sizeof(float));
  write_all(fd, triangles.corners.data(), triangles.corners.size() * sizeof(std::int32_t));
  write_all(fd, message.data(), message.size());
  _exit(0);
}

// ------------------------------------------------------------------ in ours

// Everything the other process writes until it ends; it is killed when its time is over.
std::string collect(int fd, pid_t child, const MeshLimits& limits, bool& late) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits.import_seconds));
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (late = false;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

TriangleMesh unpack(std::string_view bytes, const std::string& name) {
  Header header;
  const auto broken = [&] {
    return Error("{}: importing it failed; export the mesh again as STL or OBJ", name);
  };
  if (bytes.size() < sizeof header) throw broken();
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (bytes.size() != 12 * (header.vertices + header.faces) + header.message) throw broken();
  if (header.message > 0) throw Error("{}: {}", name, bytes.substr(bytes.size() - header.message));
  TriangleMesh mesh;
  mesh.vertices.reserve(header.vertices);
  for (std::size_t i = 0; i < header.vertices; ++i) {
    std::array<float, 3> xyz{};
    std::memcpy(xyz.data(), bytes.data() + 12 * i, sizeof xyz);
    mesh.vertices.emplace_back(xyz[0], xyz[1], xyz[2]);
    if (!usable(mesh.vertices.back())) throw Error("{}: {}", name, bad_vertex(mesh.vertices.back()));
  }
  mesh.faces.resize(header.faces);
  for (std::size_t i = 0; i < header.faces; ++i) {
    std::memcpy(mesh.faces[i].data(), bytes.data() + 12 * (header.vertices + i), 12);
    for (int corner : mesh.faces[i]) {
      if (corner < 0 || static_cast<std::size_t>(corner) >= header.vertices) throw broken();
    }
  }
  if (mesh.faces.empty()) throw Error("{}: there are no triangles in it; export the mesh again", name);
  weld(mesh);
  return mesh;
}

}  // namespace

TriangleMesh import_mesh(const std::filesystem::path& path, const MeshLimits& limits) {
  std::error_code failed;
  const std::string name = path.string();
  if (!std::filesystem::is_regular_file(path, failed)) throw Error("{}: there is no such file", name);
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (size > limits.bytes) {
    throw Error("{}: the file has {} bytes, more than the {} that are read; simplify the mesh", name, size,
                limits.bytes);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("{}: no pipe: {}", name, std::strerror(errno));
  Descriptor reading(ends[0]), writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw Error("{}: no process to import it: {}", name, std::strerror(errno));
  if (child == 0) import_and_exit(writing.get(), name, limits);
  writing.close();
  bool late = false;
  const std::string bytes = collect(reading.get(), child, limits, late);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) {
    throw Error("{}: importing it takes longer than {} s; simplify the mesh, or convert it to STL or OBJ",
                name, limits.import_seconds);
  }
  if (WIFSIGNALED(status)) {
    throw Error("{}: importing it crashed ({}); the file is broken: export the mesh again", name,
                strsignal(WTERMSIG(status)));
  }
  return unpack(bytes, name);
}

}  // namespace articula
