#include "tests/support/problem_archive.hpp"

#include <cstring>
#include <utility>

#include "articula/error.hpp"

namespace articula::testing {

namespace {

constexpr char signature[8] = {'a', 'r', 't', 'c', 'o', 'n', '0', '1'};
constexpr int most_rows = 1 << 16;

struct Header {
  std::int32_t law, blocks, size, reserved;
  double velocity_scale;
};

struct StoredBlock {
  std::int32_t kind, first, dim, reserved;
  double bound, mu[5];
};

bool makes_sense(const Header& header) {
  return (header.law == 0 || header.law == 1) && header.size >= 0 && header.size <= most_rows &&
         header.blocks >= 0 && header.blocks <= header.size;
}

bool makes_sense(const StoredBlock& block, const Header& header) {
  return block.kind >= 0 && block.kind <= static_cast<int>(BlockKind::contact) && block.first >= 0 &&
         block.dim >= 1 && block.dim <= 6 && block.first + block.dim <= header.size;
}

}  // namespace

ProblemRecorder::ProblemRecorder(const std::filesystem::path& path) : path_(path) {
  std::error_code missing;
  const bool empty = std::filesystem::file_size(path, missing) == 0 || missing;
  if (!empty) ProblemArchive existing(path);
  file_.open(path, std::ios::binary | std::ios::app);
  if (empty) file_.write(signature, sizeof signature);
  if (!file_) throw Error("{}: cannot be written", path.string());
}

void ProblemRecorder::record(const ContactProblem& problem) {
  const Header header{static_cast<std::int32_t>(problem.law),
                      static_cast<std::int32_t>(problem.blocks.size()), problem.size, 0,
                      problem.velocity_scale};
  file_.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (const Block& block : problem.blocks) {
    StoredBlock stored{static_cast<std::int32_t>(block.kind), block.first, block.dim, 0, block.bound, {}};
    std::copy(std::begin(block.mu), std::end(block.mu), stored.mu);
    file_.write(reinterpret_cast<const char*>(&stored), sizeof stored);
  }
  const auto bytes = static_cast<std::streamsize>(sizeof(double) * problem.size);
  for (int i = 0; i < problem.size; ++i) file_.write(reinterpret_cast<const char*>(problem.row(i)), bytes);
  file_.write(reinterpret_cast<const char*>(problem.b), bytes);
  if (!file_) throw Error("{}: cannot be written", path_.string());
}

ProblemArchive::ProblemArchive(const std::filesystem::path& path)
    : file_(path, std::ios::binary),
      path_(path) {
  if (!file_) throw Error("{}: cannot be opened", path.string());
  char start[sizeof signature] = {};
  file_.read(start, sizeof start);
  if (!file_ || std::memcmp(start, signature, sizeof signature) != 0)
    throw Error("{}: not an archive of contact problems", path.string());
}

void ProblemArchive::read(void* to, std::size_t bytes) {
  file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!file_) throw Error("{}: cut off in the middle of a problem", path_.string());
}

bool ProblemArchive::next(OwnedProblem& problem) {
  if (file_.peek() == std::ifstream::traits_type::eof()) return false;
  Header header;
  read(&header, sizeof header);
  if (!makes_sense(header)) throw Error("{}: a problem's sizes make no sense", path_.string());
  problem.law = static_cast<FrictionLaw>(header.law);
  problem.blocks.clear();
  for (int k = 0; k < header.blocks; ++k) {
    StoredBlock stored;
    read(&stored, sizeof stored);
    if (!makes_sense(stored, header))
      throw Error("{}: block {} of a problem makes no sense", path_.string(), k);
    Block block{.kind = static_cast<BlockKind>(stored.kind),
                .first = stored.first,
                .dim = stored.dim,
                .bound = stored.bound};
    std::copy(std::begin(stored.mu), std::end(stored.mu), block.mu);
    problem.blocks.push_back(block);
  }
  problem.G.resize(header.size, header.size);
  problem.b.resize(header.size);
  read(problem.G.data(), sizeof(double) * header.size * header.size);
  read(problem.b.data(), sizeof(double) * header.size);
  problem.bias.resize(0);  // archives do not have it
  problem.least_velocity = header.velocity_scale;
  return true;
}

}  // namespace articula::testing
