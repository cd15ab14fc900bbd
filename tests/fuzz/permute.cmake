add_library(ricci_fuzz STATIC random_einsum.cpp random_problem.cpp random_tensor.cpp rounding.cpp)
target_include_directories(ricci_fuzz PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(ricci_fuzz PUBLIC ricci_runtime)

if(RICCI_CPU)
  # The widest vectors of this machine, then what older ones have: the same problems, other registers.
  ricci_test(permute_cpu LABEL fuzz SOURCES permute_cpu.cpp LIBS ricci_fuzz TIMEOUT 900)
  foreach(isa avx2 plain)
    add_test(NAME fuzz.permute_cpu_${isa} COMMAND fuzz_permute_cpu)
    ricci_test_properties(fuzz.permute_cpu_${isa} LABEL fuzz TIMEOUT 900 ENVIRONMENT RICCI_CPU_ISA=${isa} RICCI_FUZZ_CASES=400
      RICCI_FUZZ_SEED=50001)
  endforeach()
  # Every kernel goes through the small loader above; through ORC it must give the same.
  add_test(NAME fuzz.permute_cpu_orc COMMAND fuzz_permute_cpu)
  ricci_test_properties(fuzz.permute_cpu_orc LABEL fuzz TIMEOUT 900 ENVIRONMENT RICCI_LOADER=orc RICCI_FUZZ_CASES=200
    RICCI_FUZZ_SEED=70001)
  ricci_test(permute_simt LABEL fuzz SOURCES permute_simt.cpp LIBS ricci_fuzz ricci_simt TIMEOUT 1200)
endif()
ricci_test(permute_gpu LABEL gpu SOURCES permute_gpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
