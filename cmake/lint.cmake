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
# Rooms of the preset `tidy`. The large ones are read folder by folder; a file that has a name of its own for something else
# than its neighbours stays apart, as do all peers, each with types of its own.
if(TARGET ricci_bench_tool)
  get_target_property(sources ricci_bench_tool SOURCES)
  set_target_properties(ricci_bench_tool PROPERTIES UNITY_BUILD_MODE GROUP)
  list(FILTER sources INCLUDE REGEX "^bench/")
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/tools/)
  set_property(SOURCE ${sources} TARGET_DIRECTORY ricci_bench_tool PROPERTY UNITY_GROUP bench)
endif()
set(apart
  ir/passes/colour_refinement.cpp ir/passes/split.cpp ir/passes/step_piece.cpp
  kernel/expand_cuda_flush.cpp kernel/verify.cpp kernel/verify_threads.cpp kernel/verify_values.cpp
  kernel/verify_warp_group.cpp kernel/warp_tile.cpp
  kernel/interpret/values.cpp kernel/interpret/warp.cpp kernel/interpret/warp_group.cpp
  kernel/permute/warp_exchange.cpp kernel/program/point_reduce.cpp
  plan/models/cost_cuda.cpp
  plan/enumerate/contraction_cuda.cpp plan/enumerate/contraction_directives.cpp plan/enumerate/contraction_group_cpu.cpp
  plan/enumerate/contraction_orders.cpp plan/enumerate/cut_counts.cpp plan/enumerate/gpu_contraction.cpp
  plan/enumerate/plain_cuda.cpp
  plan/enumerate/result_stores.cpp plan/enumerate/tile_enumeration.cpp plan/enumerate/tile_schedules.cpp
  cache/format.cpp)
foreach(room ir kernel plan cache)
  get_target_property(sources ricci_${room} SOURCES)
  set_target_properties(ricci_${room} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    if(source MATCHES "\\.cpp$" AND NOT "${room}/${source}" IN_LIST apart)
      set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/${room}/${source} TARGET_DIRECTORY ricci_${room}
        PROPERTY UNITY_GROUP "${room}_${folder}")
    endif()
  endforeach()
endforeach()
# What the build writes is not there when clang-tidy reads.
set_property(SOURCE ${PROJECT_BINARY_DIR}/src/codegen/prelude.cpp TARGET_DIRECTORY ricci_codegen
  PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
# One check looks through every function of Clang's headers: half of the time of the unit that includes them. (The other
# such headers are CLI11's: tools/cli/.clang-tidy.)
file(WRITE ${PROJECT_BINARY_DIR}/src/jit/clang_plugin/.clang-tidy
  "InheritParentConfig: true\nChecks: -performance-unnecessary-value-param\n")
