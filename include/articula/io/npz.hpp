#pragma once
// NumPy's .npz: named arrays of numbers in a zip archive.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace articula {

// Row-major.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

using NpzArrays = std::map<std::string, NpyArray>;

// As float64, uncompressed. Throws Error if the file cannot be written.
void write_npz(const std::filesystem::path& path, const NpzArrays& arrays);

// float32, float64 and integers, compressed or not; all become double. Throws Error, naming the file and the
// array, for anything else.
NpzArrays read_npz(const std::filesystem::path& path);

}  // namespace articula
