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
if(RICCI_RUN_CLANG_TIDY AND RICCI_CPU)
  add_library(ricci_own_code MODULE EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/structure/own_code.cpp)
  cmake_path(GET RICCI_CLANG_HEADER PARENT_PATH clang_include)  # clang/Frontend
  target_include_directories(ricci_own_code SYSTEM PRIVATE ${clang_include}/../..)
  target_compile_options(ricci_own_code PRIVATE -O0 -fno-rtti)
  # -quiet leaves the findings; headers, and in the preset `tidy` sources, are checked through the files that include
  # them (HeaderFilterRegex).
  set(rooms "(src|tools)/")
  add_custom_target(tidy
    COMMAND ${RICCI_RUN_CLANG_TIDY} -quiet -load $<TARGET_FILE:ricci_own_code> -p ${PROJECT_BINARY_DIR}
      "^${PROJECT_SOURCE_DIR}/${rooms}|^${PROJECT_BINARY_DIR}/${rooms}.*/Unity/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
# What the build writes is not there when clang-tidy reads.
set_property(SOURCE ${PROJECT_BINARY_DIR}/src/codegen/prelude.cpp TARGET_DIRECTORY ricci_codegen
  PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
