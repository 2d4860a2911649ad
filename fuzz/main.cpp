// libFuzzer's entry. ARTICULA_FUZZ is the harness: mjcf, urdf, sdf, stl or obj.

#include <cstddef>
#include <cstdint>

#include "fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  articula::fuzz::ARTICULA_FUZZ({reinterpret_cast<const char*>(data), size});
  return 0;
}
