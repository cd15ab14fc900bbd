# Random contractions for a GPU, on the simulator; what kernels of programs move, counted twice.
if(RICCI_CPU)
  ricci_test(contraction_simt LABEL fuzz SOURCES contraction_simt.cpp random_gpu_contraction.cpp LIBS ricci_fuzz ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(contraction_simt 3000)
  ricci_test(kernel_counts LABEL simt SOURCES kernel_counts.cpp
    LIBS ricci_fuzz_programs ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
endif()
