# Helpers which make a library, its tests and its fuzz targets with the same rules everywhere.

add_library(samlet_compile_rules INTERFACE)
target_compile_options(samlet_compile_rules INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2
  # Contraction would let two compilers round the same expression differently.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports null dereferences and overflows inside inlined libstdc++ code that cannot happen (GCC 105562, 105593).
  target_compile_options(samlet_compile_rules INTERFACE -Wno-null-dereference)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # clang calls double{value} an implicit conversion, and blames us for what libstdc++'s own algorithms call.
  target_compile_options(samlet_compile_rules INTERFACE -Wno-double-promotion -Wno-deprecated-declarations)
endif()
if(SAMLET_WARNINGS_AS_ERRORS)
  target_compile_options(samlet_compile_rules INTERFACE -Werror)
endif()
set(SAMLET_IS_SANITIZED 0)
if(SAMLET_SANITIZE)
  set(SAMLET_IS_SANITIZED 1)
  add_compile_options(-fsanitize=${SAMLET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SAMLET_SANITIZE})
endif()
if(SAMLET_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# samlet_library(NAME SOURCES ... [PUBLIC ...] [PRIVATE ...])
# Makes the static library samlet_NAME (alias samlet::NAME). PUBLIC and PRIVATE list link dependencies.
function(samlet_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(samlet_${name} STATIC ${arg_SOURCES})
  add_library(samlet::${name} ALIAS samlet_${name})
  set_target_properties(samlet_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(samlet_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(samlet_${name} PUBLIC cxx_std_20)
  target_link_libraries(samlet_${name}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:samlet_compile_rules>)
  set_property(GLOBAL APPEND PROPERTY SAMLET_LIBRARIES samlet_${name})
endfunction()

# samlet_test(NAME SOURCES ... [LINK ...] [LABEL unit|golden|e2e]): a GoogleTest program; every case is one ctest entry.
function(samlet_test name)
  if(NOT SAMLET_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    SAMLET_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SAMLET_BINARY_DIR="${PROJECT_BINARY_DIR}"
    SAMLET_ORT_LIBRARY_DIR="${SAMLET_ORT_LIBRARY_DIR}"
    SAMLET_SANITIZED=${SAMLET_IS_SANITIZED})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main samlet_compile_rules)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600)
endfunction()

# samlet_fuzz(NAME SOURCES ... CORPUS dir [LINK ...]): a fuzz target. In every build it is compiled and its corpus
# replayed by ctest; with SAMLET_LIBFUZZER it is a libFuzzer program instead.
function(samlet_fuzz name)
  if(NOT SAMLET_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK} samlet_compile_rules)
  if(SAMLET_LIBFUZZER)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name}.replay COMMAND ${name} -runs=0 ${arg_CORPUS})
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fuzz_replay_main.cc)
    add_test(NAME ${name}.replay COMMAND ${name} ${arg_CORPUS})
  endif()
  set_tests_properties(${name}.replay PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
