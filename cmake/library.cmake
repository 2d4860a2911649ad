file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)

# For finding models/: before installation, and from programs that stand outside the installation.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/io/paths.cpp PROPERTY COMPILE_DEFINITIONS
  ARTICULA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ARTICULA_INSTALLED_DATA="${CMAKE_INSTALL_FULL_DATADIR}/articula")

# articula_add_library(NAME MARCH): all of the library, compiled for one architecture.
function(articula_add_library name march)
  add_library(${name} STATIC ${library_sources})
  articula_own_target(${name})
  articula_share_units(${name} 10 src/collision)

  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${name} PUBLIC cxx_std_20)

  # Eigen's alignment, and with it the layout of our types, follows the architecture flags: users must agree with us.
  target_compile_definitions(${name} PUBLIC EIGEN_MAX_ALIGN_BYTES=32)
  if(march)
    target_compile_options(${name} PUBLIC -march=${march})
  endif()

  target_link_libraries(${name}
    PUBLIC Eigen3::Eigen fmt::fmt
    PRIVATE pugixml::pugixml tinyobjloader::tinyobjloader_double Qhull::qhull_r TBB::tbb assimp::assimp ZLIB::ZLIB
            PNG::PNG Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_definitions(${name} PRIVATE TINYOBJLOADER_USE_DOUBLE)

  target_precompile_headers(${name} PRIVATE
    <Eigen/Dense> <fmt/format.h>
    <algorithm> <array> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>)
endfunction()

articula_add_library(articula "${ARTICULA_MARCH}")
add_library(articula::articula ALIAS articula)
if(ARTICULA_PYTHON AND ARTICULA_PYTHON_BASELINE)
  articula_add_library(articula_baseline "")
endif()
