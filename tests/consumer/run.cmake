# Installs the build into a prefix of its own, then configures, builds and runs the consumer against it.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGV}")
  endif()
endfunction()

set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_PREFIX_PATH=${prefix} -D README=${README})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/consumer)
run(${WORK_DIR}/build/example)

# The installed tool uses the installed models, not those of the source tree.
execute_process(COMMAND ${prefix}/bin/articula models OUTPUT_VARIABLE models RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT models MATCHES "in ${prefix}/share/articula/models")
  message(FATAL_ERROR "the installed tool does not find the installed models (${code}):\n${models}")
endif()
