# cmake --install: headers, libraries, the program, and the files that let another project say
#   find_package(samlet REQUIRED)
#   target_link_libraries(program PRIVATE samlet::samlet)
# tests/install does just that, from a prefix that was moved.

include(CMakePackageConfigHelpers)

get_property(samlet_libraries GLOBAL PROPERTY SAMLET_LIBRARIES)

# One name for all of it; the libraries stay reachable one by one (samlet::mask).
add_library(samlet_all INTERFACE)
add_library(samlet::samlet ALIAS samlet_all)
set_target_properties(samlet_all PROPERTIES EXPORT_NAME samlet)
target_link_libraries(samlet_all INTERFACE ${samlet_libraries})

# A static library hands its private dependencies on to whoever links it, so the consumer has to find each package that
# any of them links. The list is read off the targets: a new dependency cannot be forgotten, only be unknown here.
set(package_of_fmt fmt)
set(package_of_JPEG JPEG)
set(package_of_PNG PNG)
set(package_of_Freetype Freetype)
set(package_of_TIFF TIFF)
set(package_of_Threads Threads)
set(package_of_WebP WebP)
set(package_of_ZLIB ZLIB)
set(package_of_nlohmann_json nlohmann_json)
set(package_of_OpenSSL OpenSSL)
set(samlet_find_dependencies "")
foreach(library IN LISTS samlet_libraries)
  get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  string(REGEX MATCHALL "[A-Za-z_0-9]+::[A-Za-z_0-9]+" links "${links}")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "::.*" "" namespace "${link}")
    if(NOT namespace STREQUAL "samlet")
      if(NOT DEFINED package_of_${namespace})
        message(FATAL_ERROR "${library} links ${link}: say in cmake/SamletInstall.cmake which package that is")
      endif()
      list(APPEND samlet_find_dependencies "find_dependency(${package_of_${namespace}})")
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES samlet_find_dependencies)
list(SORT samlet_find_dependencies)
list(JOIN samlet_find_dependencies "\n" samlet_find_dependencies)

set(samlet_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/samlet")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/samletConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/samletConfig.cmake" INSTALL_DESTINATION "${samlet_config_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/samletConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

install(TARGETS samlet_all ${samlet_libraries} EXPORT samletTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT samletTargets NAMESPACE samlet:: DESTINATION "${samlet_config_dir}")
install(FILES "${PROJECT_BINARY_DIR}/samletConfig.cmake" "${PROJECT_BINARY_DIR}/samletConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindWebP.cmake" DESTINATION "${samlet_config_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/samlet" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES.txt" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET samlet)
  install(TARGETS samlet RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
