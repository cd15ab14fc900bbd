# The targets `tidy` and `format`. They exist where the tools of version 19 do: other versions disagree.
find_program(RICCI_CLANG_FORMAT clang-format-19)
find_program(RICCI_RUN_CLANG_TIDY run-clang-tidy-19)
mark_as_advanced(RICCI_CLANG_FORMAT RICCI_RUN_CLANG_TIDY)

if(RICCI_CLANG_FORMAT)
  file(GLOB_RECURSE formatted CONFIGURE_DEPENDS
    include/*.hpp include/*.h src/*.hpp src/*.h src/*.cpp tools/*.hpp tools/*.cpp tests/*.hpp tests/*.cpp tests/*.c
    bench/*.hpp bench/*.cpp examples/*.hpp examples/*.cpp)
  list(FILTER formatted EXCLUDE REGEX "/tests/golden/")  # what Ricci writes is not laid out by hand
  add_custom_target(format COMMAND ${RICCI_CLANG_FORMAT} -i ${formatted} VERBATIM)
endif()
if(RICCI_RUN_CLANG_TIDY)
  # -quiet leaves the findings; headers, and in the preset `tidy` sources, are checked through the files that include
  # them (HeaderFilterRegex). Nine tenths of the time of a single file are the headers of the system.
  set(rooms "(src|tools)/")
  add_custom_target(tidy
    COMMAND ${RICCI_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR}
      "^${PROJECT_SOURCE_DIR}/${rooms}|^${PROJECT_BINARY_DIR}/${rooms}.*/Unity/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
# What the build writes is not there when clang-tidy reads.
set_property(SOURCE ${PROJECT_BINARY_DIR}/src/codegen/prelude.cpp TARGET_DIRECTORY ricci_codegen
  PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
# One check looks through every function of Clang's headers: half of the time of the unit that includes them. (The other
# such headers are CLI11's: tools/cli/.clang-tidy.)
file(WRITE ${PROJECT_BINARY_DIR}/src/jit/clang_plugin/.clang-tidy
  "InheritParentConfig: true\nChecks: -performance-unnecessary-value-param\n")
