file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
add_library(articula STATIC ${library_sources})
add_library(articula::articula ALIAS articula)
articula_own_target(articula)

target_include_directories(articula
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_features(articula PUBLIC cxx_std_20)

# Eigen's alignment, and with it the layout of our types, follows the architecture flags: users must agree with us.
target_compile_definitions(articula PUBLIC EIGEN_MAX_ALIGN_BYTES=32)
if(ARTICULA_MARCH)
  target_compile_options(articula PUBLIC -march=${ARTICULA_MARCH})
endif()

target_link_libraries(articula
  PUBLIC Eigen3::Eigen fmt::fmt
  PRIVATE pugixml::pugixml tinyobjloader::tinyobjloader_double Qhull::qhull_r TBB::tbb assimp::assimp ZLIB::ZLIB
          PNG::PNG Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(articula PRIVATE TINYOBJLOADER_USE_DOUBLE)

# For finding models/: before installation, and from programs that stand outside the installation.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/io/paths.cpp PROPERTY COMPILE_DEFINITIONS
  ARTICULA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ARTICULA_INSTALLED_DATA="${CMAKE_INSTALL_FULL_DATADIR}/articula")

target_precompile_headers(articula PRIVATE
  <Eigen/Dense> <fmt/format.h>
  <algorithm> <array> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional> <span>
  <string> <string_view> <unordered_map> <utility> <variant> <vector>)
