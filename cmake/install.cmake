include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/articula)
install(TARGETS articula EXPORT articulaTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT articulaTargets NAMESPACE articula:: DESTINATION ${package_dir})
configure_package_config_file(cmake/articulaConfig.cmake.in ${PROJECT_BINARY_DIR}/articulaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/articulaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/articulaConfig.cmake ${PROJECT_BINARY_DIR}/articulaConfigVersion.cmake
  DESTINATION ${package_dir})
install(DIRECTORY include/articula DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/articula)
if(EXISTS ${PROJECT_SOURCE_DIR}/models)
  install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/articula)
endif()
