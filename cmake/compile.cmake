# How our own targets are compiled. `articula_own_target(NAME)` is called for each; nothing of it reaches users.

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is only cacheable when times and macros that nobody uses do not count.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE})
endif()

if(ARTICULA_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

set(ARTICULA_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                      -Wold-style-cast -Woverloaded-virtual -Wno-psabi
                      # Fields left out of a designated initializer take their defaults: that is what it is for.
                      -Wno-missing-field-initializers)
if(ARTICULA_WERROR)
  list(APPEND ARTICULA_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports these inside inlined Eigen code that is correct; clang and the sanitizers watch the same mistakes.
  list(APPEND ARTICULA_WARNINGS -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
       -Wno-restrict)
endif()

function(articula_own_target name)
  # Contraction to FMA stays on (the default); -ffast-math never: it would break NaN checks and reproducibility.
  target_compile_options(${name} PRIVATE ${ARTICULA_WARNINGS} -fno-math-errno)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# articula_share_units(NAME COUNT): with ARTICULA_UNITY the files of a folder are compiled COUNT at a time. What headers
# instantiate is then compiled once for all of them, which saves a quarter of the build. Names in a folder's anonymous
# namespaces must differ for that; that they may hide each other is no mistake. Folders in ARGN keep to units of their
# own.
function(articula_share_units name count)
  if(NOT ARTICULA_UNITY)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${name} PRIVATE -Wno-shadow)
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    if(folder IN_LIST ARGN)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND in_${folder} ${source})
    list(LENGTH in_${folder} number)
    math(EXPR unit "(${number} - 1) / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
  endforeach()
endfunction()
