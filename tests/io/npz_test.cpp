#include "articula/io/npz.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "articula/error.hpp"

namespace articula::npz_test {
namespace {

struct File {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("articula_" + std::to_string(::getpid()) + "_" +
                                ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".npz");
  ~File() { std::filesystem::remove(path); }
};

TEST(Npz, arrays_come_back_as_they_were) {
  const File file;
  const NpzArrays arrays = {
      {"a", {{2, 3}, {1, 2, 3, 4, 5, 0.1}}}, {"empty", {{0, 4}, {}}}, {"s", {{1}, {-1e300}}}};
  write_npz(file.path, arrays);
  const NpzArrays back = read_npz(file.path);
  ASSERT_EQ(back.size(), 3u);
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(back.at(name).shape, array.shape) << name;
    EXPECT_EQ(back.at(name).values, array.values) << name;
  }
}

TEST(Npz, reads_what_numpy_writes) {
  // np.savez_compressed(f, x=np.arange(6, dtype=np.float32).reshape(2, 3), n=np.array([1, -2]))
  const File file;
  constexpr unsigned char bytes[] = {
      80,  75,  3,   4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   79,  233, 0,   42,  255, 255, 255,
      255, 255, 255, 255, 255, 5,   0,   20,  0,   120, 46,  110, 112, 121, 1,   0,   16,  0,   152, 0,   0,
      0,   0,   0,   0,   0,   85,  0,   0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200,
      80,  198, 80,  173, 158, 146, 90,  156, 92,  164, 110, 165, 160, 110, 147, 102, 162, 174, 163, 160, 158,
      150, 95,  84,  82,  148, 152, 23,  159, 95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,
      103, 36,  22,  164, 2,   249, 26,  70,  58,  10,  198, 154, 58,  10,  181, 10,  100, 3,   46,  6,   48,
      104, 176, 7,   18,  14,  64,  4,   196, 13,  64,  188, 192, 1,   0,   80,  75,  3,   4,   45,  0,   0,
      0,   8,   0,   0,   0,   33,  0,   154, 251, 245, 35,  255, 255, 255, 255, 255, 255, 255, 255, 5,   0,
      20,  0,   110, 46,  110, 112, 121, 1,   0,   16,  0,   144, 0,   0,   0,   0,   0,   0,   0,   75,  0,
      0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200, 80,  198, 80,  173, 158, 146, 90,
      156, 92,  164, 110, 165, 160, 110, 147, 105, 161, 174, 163, 160, 158, 150, 95,  84,  82,  148, 152, 23,
      159, 95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,  22,  164, 2,   249, 26,
      70,  58,  154, 58,  10,  181, 10,  20,  0,   46,  70,  6,   8,   248, 247, 31,  2,   0,   80,  75,  1,
      2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   79,  233, 0,   42,  85,  0,   0,   0,
      152, 0,   0,   0,   5,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   128, 1,   0,   0,   0,
      0,   120, 46,  110, 112, 121, 80,  75,  1,   2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,
      0,   154, 251, 245, 35,  75,  0,   0,   0,   144, 0,   0,   0,   5,   0,   0,   0,   0,   0,   0,   0,
      0,   0,   0,   0,   128, 1,   140, 0,   0,   0,   110, 46,  110, 112, 121, 80,  75,  5,   6,   0,   0,
      0,   0,   2,   0,   2,   0,   102, 0,   0,   0,   14,  1,   0,   0,   0,   0};
  std::ofstream(file.path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), sizeof bytes);
  const NpzArrays back = read_npz(file.path);
  EXPECT_EQ(back.at("x").shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(back.at("x").values, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(back.at("n").values, (std::vector<double>{1, -2}));
}

TEST(Npz, damaged_files_are_refused_with_their_name) {
  const File file;
  write_npz(file.path, {{"a", {{3}, {1, 2, 3}}}});
  std::ifstream in(file.path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file.path, std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(read_npz(file.path), Error) << size;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {  // never crashes; most changes are noticed
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    std::ofstream(file.path, std::ios::binary) << changed;
    try {
      read_npz(file.path);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(file.path.string()), std::string::npos);
    }
  }
  EXPECT_THROW(read_npz("/no/such/file.npz"), Error);
}

}  // namespace
}  // namespace articula::npz_test
