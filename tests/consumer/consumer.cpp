#include <articula/error.hpp>
#include <articula/io/paths.hpp>
#include <articula/version.hpp>

#include <cstdio>

static_assert(EIGEN_MAX_ALIGN_BYTES == 32, "the package publishes the alignment it was compiled with");

int main() {
  try {
    std::printf("articula %s, models in %s\n", articula::version, articula::models_directory().c_str());
  } catch (const articula::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
