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
# Rooms in which files have names of their own for different things stay apart.
foreach(target ricci_ir ricci_kernel ricci_plan ricci_codegen ricci_cache ricci_command_tool ricci_bench_tool)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endforeach()
