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
  # -quiet leaves the findings; headers are checked through the files that include them (HeaderFilterRegex). Without
  # precompiled headers: each file shows that it includes what it uses, and has a third less to look through.
  set(plain ${PROJECT_BINARY_DIR}/tidy)
  add_custom_target(tidy
    COMMAND ${CMAKE_COMMAND} -E make_directory ${plain}
    COMMAND sed -E "s| -Winvalid-pch||; s| -include [^ ]*cmake_pch[^ ]*||" ${PROJECT_BINARY_DIR}/compile_commands.json > ${plain}/compile_commands.json
    COMMAND ${RICCI_RUN_CLANG_TIDY} -quiet -p ${plain} "^${PROJECT_SOURCE_DIR}/(src|tools)/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
