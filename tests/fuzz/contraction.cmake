# Random contractions: on the CPU, and for a GPU on the simulator; what kernels of programs move, counted twice.
ricci_test(contraction_cublas LABEL gpu SOURCES contraction_cublas.cpp library_products.cpp LIBS ricci_fuzz ${CMAKE_DL_LIBS} TIMEOUT 1200)
if(RICCI_CPU)
  ricci_test(contraction_cpu LABEL fuzz PROGRAM cpu SOURCES contraction_cpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
  ricci_deep(contraction_cpu 3000)
  ricci_fuzz_elsewhere(contraction_cpu 15 3000)
  ricci_test(contraction_blas LABEL fuzz SOURCES contraction_blas.cpp library_products.cpp LIBS ricci_fuzz ${CMAKE_DL_LIBS} TIMEOUT 1200)
  target_compile_definitions(fuzz_contraction_blas PRIVATE FAKE_BLAS_BATCH="$<TARGET_FILE:fake_blas_batch>")
  add_dependencies(fuzz_contraction_blas fake_blas_batch)
  ricci_deep(contraction_blas 1000)
  ricci_test(group_cpu LABEL fuzz PROGRAM cpu SOURCES group_cpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
  ricci_deep(group_cpu 1000)
  ricci_test(contraction_simt LABEL fuzz simt PROGRAM simt SOURCES contraction_simt.cpp random_gpu_contraction.cpp LIBS ricci_fuzz ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(contraction_simt 3000)
  set_tests_properties(fuzz.contraction_simt deep.contraction_simt PROPERTIES COST 50)  # not left for the end
  ricci_test(kernel_counts LABEL fuzz simt PROGRAM simt SOURCES kernel_counts.cpp
    LIBS ricci_fuzz_programs ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(kernel_counts 150)
endif()
