# Random contractions: on the CPU, and for a GPU on the simulator; what kernels of programs move, counted twice.
if(RICCI_CPU)
  ricci_test(contraction_cpu LABEL fuzz SOURCES contraction_cpu.cpp random_product.cpp LIBS ricci_fuzz TIMEOUT 1200)
  ricci_deep(contraction_cpu 3000)
  ricci_fuzz_elsewhere(contraction_cpu 15 3000)
  ricci_test(group_cpu LABEL fuzz SOURCES group_cpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
  ricci_deep(group_cpu 1000)
  ricci_test(contraction_simt LABEL fuzz SOURCES contraction_simt.cpp random_gpu_contraction.cpp LIBS ricci_fuzz ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(contraction_simt 3000)
  ricci_test(kernel_counts LABEL fuzz simt SOURCES kernel_counts.cpp
    LIBS ricci_fuzz_programs ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(kernel_counts 150)
endif()
