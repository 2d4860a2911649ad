#pragma once
// Contact problems in a binary file, one after the other: recorded from scenes, read back by tests and
// benchmarks. Numbers are stored as they are in memory, so a problem comes back to the bit.

#include <filesystem>
#include <fstream>

#include "tests/support/contact_problems.hpp"

namespace articula::testing {

// Appends to the file, which is created with its header if it is missing or empty. Throws articula::Error if
// it cannot be written or is not an archive.
class ProblemRecorder {
 public:
  explicit ProblemRecorder(const std::filesystem::path& path);
  void record(const ContactProblem& problem);

 private:
  std::ofstream file_;
  std::filesystem::path path_;
};

class ProblemArchive {
 public:
  explicit ProblemArchive(const std::filesystem::path& path);
  // False at the end. Throws articula::Error where the file is cut off or makes no sense.
  bool next(OwnedProblem& problem);

 private:
  void read(void* to, std::size_t bytes);

  std::ifstream file_;
  std::filesystem::path path_;
};

}  // namespace articula::testing
