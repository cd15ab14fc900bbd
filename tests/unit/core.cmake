# src/ir: text, programs, passes, the interpreter, the log.
foreach(part spec split tensor problem verify einsum path)
  ricci_test(ir_${part} LABEL unit PROGRAM ir SOURCES ir_${part}.cpp LIBS ricci_lower)
endforeach()
foreach(part canonical einsum_random)
  ricci_test(ir_${part} LABEL unit PROGRAM problems SOURCES ir_${part}.cpp LIBS ricci_fuzz)
endforeach()
ricci_test(ir_interpret LABEL unit PROGRAM problems SOURCES ir_interpret.cpp LIBS ricci_runtime)
# A test of its own: the environment is read once.
ricci_test(log LABEL unit PROGRAM ir SOURCES log.cpp LIBS ricci_lower ENVIRONMENT RICCI_LOG=plan,nonsense)

# src/json
ricci_test(json LABEL unit PROGRAM ir SOURCES json.cpp LIBS ricci_json ricci_ir)
ricci_test(own_stack LABEL unit limits PROGRAM ir SOURCES own_stack.cpp LIBS ricci_ir)

# src/plan
ricci_test(plan_traffic LABEL unit PROGRAM plan SOURCES plan_traffic.cpp LIBS ricci_plan ricci_lower)
if(RICCI_CPU)
  ricci_test(bench_baselines LABEL unit PROGRAM tools SOURCES bench_baselines.cpp LIBS ricci_bench_tool)
endif()
ricci_test(bench_mwp_cwp LABEL unit PROGRAM tools SOURCES bench_mwp_cwp.cpp LIBS ricci_bench_tool ricci_plan ricci_lower)
ricci_test(plan_candidate_timing LABEL unit PROGRAM plan SOURCES plan_candidate_timing.cpp LIBS ricci_plan ricci_lower)
ricci_test(plan_parts LABEL unit PROGRAM plan SOURCES plan_parts.cpp LIBS ricci_plan ricci_lower)
ricci_test(plan_candidates LABEL unit PROGRAM problems SOURCES plan_candidates.cpp LIBS ricci_fuzz)
ricci_test(plan_three_products LABEL unit PROGRAM plan SOURCES plan_three_products.cpp LIBS ricci_plan ricci_lower)
ricci_test(plan_wavefronts LABEL unit PROGRAM plan SOURCES plan_wavefronts.cpp LIBS ricci_plan ricci_lower)
ricci_test(plan_contraction LABEL unit PROGRAM problems SOURCES plan_contraction.cpp LIBS ricci_fuzz)
ricci_test(plan_plain_gpu LABEL unit PROGRAM plan SOURCES plan_plain_gpu.cpp LIBS ricci_plan ricci_lower)
ricci_test(plan_turns LABEL unit PROGRAM problems SOURCES plan_turns.cpp LIBS ricci_fuzz)
ricci_test(plan_contraction_cpu LABEL unit PROGRAM problems SOURCES plan_contraction_cpu.cpp LIBS ricci_fuzz)
ricci_test(plan_ahead_cpu LABEL unit PROGRAM problems SOURCES plan_ahead_cpu.cpp LIBS ricci_fuzz)
ricci_test(plan_counts_cpu LABEL unit PROGRAM problems SOURCES plan_counts_cpu.cpp LIBS ricci_fuzz_programs)
ricci_test(plan_counts_plain LABEL unit PROGRAM problems SOURCES plan_counts_plain.cpp LIBS ricci_fuzz_programs)
ricci_test(plan_copies LABEL unit PROGRAM problems SOURCES plan_copies.cpp LIBS ricci_fuzz ricci_runtime)
ricci_test(rows LABEL unit PROGRAM problems SOURCES rows.cpp LIBS ricci_fuzz ricci_runtime)
ricci_test(chain LABEL unit PROGRAM problems SOURCES chain.cpp LIBS ricci_fuzz ricci_runtime)
ricci_test(plan_products_gpu LABEL unit PROGRAM problems SOURCES plan_products_gpu.cpp LIBS ricci_fuzz ricci_runtime)

# src/codegen
ricci_test(codegen_fingerprint LABEL unit SOURCES codegen_fingerprint.cpp LIBS ricci_codegen ricci_fingerprint)
target_compile_definitions(unit_codegen_fingerprint PRIVATE RICCI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

# src/runtime
ricci_test(thread_pool LABEL unit PROGRAM runtime SOURCES thread_pool.cpp LIBS ricci_runtime)
ricci_test(step_graphs LABEL gpu SOURCES step_graphs_gpu.cpp LIBS ricci_runtime)
if(RICCI_CPU)
  ricci_test(c_api LABEL unit PROGRAM runtime SOURCES c_api.cpp LIBS ricci_runtime)
  ricci_test(runtime LABEL unit PROGRAM runtime SOURCES runtime.cpp LIBS ricci_runtime)
  ricci_test(tensor_ref LABEL unit PROGRAM runtime SOURCES tensor_ref.cpp LIBS ricci_runtime)
  ricci_test(lane_functions LABEL unit PROGRAM runtime SOURCES lane_functions.cpp LIBS ricci_runtime)
  ricci_test(integer_lanes LABEL unit PROGRAM runtime SOURCES integer_lanes.cpp LIBS ricci_runtime)
  ricci_test(half_results LABEL unit PROGRAM runtime SOURCES half_results.cpp LIBS ricci_runtime)
  ricci_test(turned_operands LABEL unit PROGRAM runtime SOURCES turned_operands.cpp LIBS ricci_runtime)
  ricci_test(complex_sums LABEL unit PROGRAM runtime SOURCES complex_sums.cpp LIBS ricci_runtime)
  if(RICCI_CUDA)
    # What calls ask of the driver, by one in its place.
    add_library(unit_fake_driver SHARED fake_driver.cpp)
    target_include_directories(unit_fake_driver PRIVATE ${PROJECT_SOURCE_DIR}/src)
    set_target_properties(unit_fake_driver PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_driver)
    ricci_test_build(unit_fake_driver)
    set_target_properties(unit_fake_driver PROPERTIES POSITION_INDEPENDENT_CODE ON)
    ricci_test(gpu_calls LABEL unit SOURCES gpu_calls.cpp LIBS ricci_runtime ${CMAKE_DL_LIBS}
      ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/fake_driver)
    add_dependencies(unit_gpu_calls unit_fake_driver)
    set_tests_properties(unit.gpu_calls PROPERTIES SKIP_REGULAR_EXPRESSION "\\[SKIP\\] no NVRTC")
    add_library(fake_cublas MODULE fake_cublas.cpp)
    target_link_libraries(fake_cublas PRIVATE ricci_options)
    ricci_test(gpu_library_products LABEL unit SOURCES gpu_library_products.cpp LIBS ricci_runtime ${CMAKE_DL_LIBS}
      ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/fake_driver)
    target_compile_definitions(unit_gpu_library_products PRIVATE FAKE_CUBLAS="$<TARGET_FILE:fake_cublas>" FAKE_BLAS="$<TARGET_FILE:fake_blas>")
    add_dependencies(unit_gpu_library_products unit_fake_driver fake_cublas fake_blas)
  endif()
  # Libraries in the place of a BLAS.
  foreach(kind "" _BATCH _WIDE _PART)
    string(TOLOWER fake_blas${kind} fake)
    add_library(${fake} MODULE fake_blas.cpp)
    target_compile_definitions(${fake} PRIVATE FAKE_BLAS${kind})
    target_link_libraries(${fake} PRIVATE ricci_options)
    target_compile_options(${fake} PRIVATE -O3)  # in every preset: most of what their tests take
  endforeach()
  ricci_test(library_products LABEL unit SOURCES library_products.cpp LIBS ricci_runtime ${CMAKE_DL_LIBS})
  target_compile_definitions(unit_library_products PRIVATE FAKE_BLAS="$<TARGET_FILE:fake_blas>"
    FAKE_BLAS_BATCH="$<TARGET_FILE:fake_blas_batch>" FAKE_BLAS_WIDE="$<TARGET_FILE:fake_blas_wide>"
    FAKE_BLAS_PART="$<TARGET_FILE:fake_blas_part>")
  add_dependencies(unit_library_products fake_blas fake_blas_batch fake_blas_wide fake_blas_part)
  ricci_test(runtime_tuning LABEL unit PROGRAM runtime SOURCES runtime_tuning.cpp LIBS ricci_runtime)
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    ricci_test(openmp_region LABEL unit SOURCES openmp_region.cpp LIBS ricci_runtime OpenMP::OpenMP_CXX)
  endif()
  # The shared library from C99: neither the header nor the linking needs C++.
  function(ricci_c99_test name source)
    add_executable(unit_${name} ${source})
    target_link_libraries(unit_${name} PRIVATE ricci::ricci)
    target_compile_options(unit_${name} PRIVATE -Wall -Wextra -pedantic-errors)
    set_target_properties(unit_${name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
      LINKER_LANGUAGE C)
    if(RICCI_SANITIZE)
      target_link_options(unit_${name} PRIVATE -fsanitize=address,undefined)  # their runtime must be the first library
    endif()
    add_test(NAME unit.${name} COMMAND unit_${name})
    ricci_test_properties(unit.${name} LABEL unit)
  endfunction()
  ricci_c99_test(c_api_c99 c_api_c99.c)
  # The program of docs/c.md, which shows what it prints.
  ricci_c99_test(c_example ${PROJECT_SOURCE_DIR}/docs/examples/einsum.c)
  set_tests_properties(unit.c_example PROPERTIES PASS_REGULAR_EXPRESSION
    "58 60\n70 72\nthe schedule is estimated\nline 1, column 9: output axis z is not an axis of any operand\n  ik,kj->iz\n          \\^")
endif()
