# cmake --install, find_package(ricci), pkg-config, and the Debian package that cpack makes.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ricci)
install(TARGETS ricci EXPORT ricci
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Compilers read only their own module files: the Fortran module is compiled with the program.
install(FILES interfaces/fortran/ricci.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ricci)
if(RICCI_TAPP)
  install(TARGETS ricci_tapp EXPORT ricci
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET ricci_dist)
  install(TARGETS ricci_dist EXPORT ricci
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(EXPORT ricci NAMESPACE ricci:: FILE ricciTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/ricciConfig.cmake.in ricciConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ricciConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ricciConfig.cmake ${PROJECT_BINARY_DIR}/ricciConfigVersion.cmake
  DESTINATION ${package_dir})

# The prefix is told relative to the file, so that an installation may be moved.
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/ricci.pc.in ricci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ricci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "docs/examples/*")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ricci)
set(CPACK_PACKAGE_VENDOR "The Ricci developers")
set(CPACK_PACKAGE_CONTACT "The Ricci developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
