# cmake -D BUILD=... -D CONSUMER=... -D WORK=... -D CXX=... -D SANITIZE=... -D VERSION=... -P run_consumer.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "'${command}' ended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
# An installation must not know where it was made.
file(RENAME "${WORK}/first" "${WORK}/moved")

set(flags "")
if(SANITIZE)
  # Instrumented libraries need the sanitizers' runtime, which a stranger's project does not bring by itself.
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -G Ninja "-DCMAKE_PREFIX_PATH=${WORK}/moved"
  "-DCMAKE_CXX_COMPILER=${CXX}" ${flags})
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
if(NOT output MATCHES "samlet ${VERSION}\n")
  message(FATAL_ERROR "the consumer did not print 'samlet ${VERSION}' but:\n${output}")
endif()

file(GLOB_RECURSE installed LIST_DIRECTORIES false RELATIVE "${WORK}/moved" "${WORK}/moved/*")
foreach(needed include/samlet/error.h share/doc/samlet/LICENSE)
  if(NOT needed IN_LIST installed)
    message(FATAL_ERROR "${needed} was not installed; installed are: ${installed}")
  endif()
endforeach()
foreach(file IN LISTS installed)
  if(file MATCHES "\\.cmake$|\\.h$")
    file(READ "${WORK}/moved/${file}" text)
    string(FIND "${text}" "${BUILD}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names the build folder ${BUILD}")
    endif()
  endif()
endforeach()
