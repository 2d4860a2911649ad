# Problems that tests and benchmarks share: random robots, contact problems generated and recorded.
add_library(articula_problems STATIC
  ${PROJECT_SOURCE_DIR}/tests/support/random_tree.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/contact_problems.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/problem_archive.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/scene_problems.cpp)
articula_own_target(articula_problems)
target_include_directories(articula_problems PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(articula_problems PUBLIC articula)

# The benchmarks' own code; the allocation counter in it replaces malloc in whatever executable links this.
file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
list(FILTER bench_sources EXCLUDE REGEX "/bench/peers/")
add_library(articula_bench STATIC ${bench_sources})
articula_own_target(articula_bench)
target_include_directories(articula_bench PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(articula_bench PUBLIC articula articula_problems nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})

# All commands in a library, so that tests reach them; the executable adds main.
file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(FILTER cli_sources EXCLUDE REGEX "/cli/main\\.cpp$")
add_library(articula_commands STATIC ${cli_sources})
articula_own_target(articula_commands)
target_include_directories(articula_commands PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(articula_commands PUBLIC articula articula_bench CLI11::CLI11 nlohmann_json::nlohmann_json)
target_precompile_headers(articula_commands PRIVATE
  <CLI/CLI.hpp> <Eigen/Dense> <fmt/format.h> <nlohmann/json.hpp>)
# The parser of command lines is all headers: every file that uses it compiles it again, so these share two units.
# Not where every file must show that it includes what it uses.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set_target_properties(articula_commands PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(
    ${PROJECT_SOURCE_DIR}/cli/bench.cpp ${PROJECT_SOURCE_DIR}/cli/convert.cpp ${PROJECT_SOURCE_DIR}/cli/demo.cpp
    ${PROJECT_SOURCE_DIR}/cli/models.cpp PROPERTIES UNITY_GROUP few_options)
  set_source_files_properties(
    ${PROJECT_SOURCE_DIR}/cli/command.cpp ${PROJECT_SOURCE_DIR}/cli/info.cpp ${PROJECT_SOURCE_DIR}/cli/reproduce.cpp
    ${PROJECT_SOURCE_DIR}/cli/simulate.cpp PROPERTIES UNITY_GROUP many_options)
endif()

add_executable(articula_cli ${PROJECT_SOURCE_DIR}/cli/main.cpp)
articula_own_target(articula_cli)
set_target_properties(articula_cli PROPERTIES OUTPUT_NAME articula)
target_link_libraries(articula_cli PRIVATE articula_commands)
install(TARGETS articula_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
