# Random kernels of the kernel IR: contractions with directives drawn at random.
add_library(ricci_fuzz_kernels STATIC random_contraction.cpp)
target_link_libraries(ricci_fuzz_kernels PUBLIC ricci_fuzz ricci_kernel)
ricci_test(kernel_interpret LABEL fuzz SOURCES kernel_interpret.cpp LIBS ricci_fuzz_kernels TIMEOUT 900)
if(RICCI_CPU)
  ricci_test(kernel_cpu LABEL fuzz SOURCES kernel_cpu.cpp LIBS ricci_fuzz_kernels ricci_codegen ricci_jit TIMEOUT 900)
  ricci_test(kernel_operations LABEL fuzz SOURCES kernel_operations.cpp LIBS ricci_fuzz_kernels ricci_codegen ricci_jit TIMEOUT 900)
  foreach(isa avx2 plain)
    add_test(NAME fuzz.kernel_cpu_${isa} COMMAND fuzz_kernel_cpu)
    ricci_test_properties(fuzz.kernel_cpu_${isa} LABEL fuzz TIMEOUT 900
      ENVIRONMENT RICCI_CPU_ISA=${isa} RICCI_FUZZ_CASES=150 RICCI_FUZZ_SEED=50001)
  endforeach()
endif()
