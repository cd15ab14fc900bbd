# The parts of the command line that need no compiler and no device (tools/).
if(RICCI_TOOLS)
  ricci_test(npy LABEL unit PROGRAM tools SOURCES npy.cpp LIBS ricci_tool)
  ricci_test(tool_text LABEL unit PROGRAM tools SOURCES tool_text.cpp LIBS ricci_tool)
  ricci_test(tools_models LABEL unit PROGRAM tools SOURCES tools_models.cpp LIBS ricci_bench_tool)
  ricci_test(tools_operands LABEL unit PROGRAM tools SOURCES tools_operands.cpp LIBS ricci_bench_tool)

  # Libraries in the place of cuTENSOR, cuTT, HPTT, TBLIS, einsum_ir and OpenBLAS.
  foreach(fake cutensor old_cutensor cutt hptt tblis einsum_ir openblas)
    string(REGEX REPLACE "^(old_|open)" "" source ${fake})
    add_library(fake_${fake} MODULE fake_${source}.cpp)
    target_include_directories(fake_${fake} PRIVATE ${PROJECT_SOURCE_DIR}/tools)
    target_link_libraries(fake_${fake} PRIVATE ricci_options)
  endforeach()
  target_compile_definitions(fake_old_cutensor PRIVATE FAKE_WITHOUT_PERMUTE)
  ricci_test(tools_peers LABEL unit SOURCES tools_peers.cpp LIBS ricci_bench_tool)
  target_compile_definitions(unit_tools_peers PRIVATE FAKE_CUTENSOR="$<TARGET_FILE:fake_cutensor>"
    FAKE_OLD_CUTENSOR="$<TARGET_FILE:fake_old_cutensor>" FAKE_CUTT="$<TARGET_FILE:fake_cutt>"
    FAKE_HPTT="$<TARGET_FILE:fake_hptt>")
  add_dependencies(unit_tools_peers fake_cutensor fake_old_cutensor fake_cutt fake_hptt)
  ricci_test(tools_contractions LABEL unit SOURCES tools_contractions.cpp LIBS ricci_bench_tool)
  target_compile_definitions(unit_tools_contractions PRIVATE FAKE_TBLIS="$<TARGET_FILE:fake_tblis>"
    FAKE_EINSUM_IR="$<TARGET_FILE:fake_einsum_ir>" FAKE_CUTENSOR="$<TARGET_FILE:fake_cutensor>"
    FAKE_OPENBLAS="$<TARGET_FILE:fake_openblas>")
  add_dependencies(unit_tools_contractions fake_tblis fake_einsum_ir fake_cutensor fake_openblas)
  if(RICCI_CPU)
    ricci_test(tools_one_by_one LABEL unit SOURCES tools_one_by_one.cpp LIBS ricci_bench_tool)
    target_compile_definitions(unit_tools_one_by_one PRIVATE FAKE_TBLIS="$<TARGET_FILE:fake_tblis>" FAKE_CUTENSOR="$<TARGET_FILE:fake_cutensor>")
    add_dependencies(unit_tools_one_by_one fake_tblis fake_cutensor)
  endif()

  # Our declarations against NVIDIA's, where both headers are.
  find_path(RICCI_CUTENSOR_INCLUDE cutensor.h HINTS $ENV{CUTENSOR_HOME}/include /usr/local/cuda/include)
  find_path(RICCI_CUDA_INCLUDE cuda.h HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
  mark_as_advanced(RICCI_CUTENSOR_INCLUDE RICCI_CUDA_INCLUDE)
  if(RICCI_CUTENSOR_INCLUDE AND RICCI_CUDA_INCLUDE)
    ricci_test(tools_peers_api LABEL unit SOURCES tools_peers_api.cpp LIBS ricci_bench_tool)
    target_include_directories(unit_tools_peers_api SYSTEM PRIVATE ${RICCI_CUTENSOR_INCLUDE} ${RICCI_CUDA_INCLUDE})
  endif()
endif()
