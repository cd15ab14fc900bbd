# Random programs of one kernel.
add_library(ricci_fuzz_programs STATIC kernel_case.cpp random_memory.cpp random_program.cpp random_values.cpp)
target_link_libraries(ricci_fuzz_programs PUBLIC ricci_fuzz Catch2::Catch2WithMain)
if(RICCI_CPU)
  ricci_test(program_cpu LABEL fuzz SOURCES program_cpu.cpp LIBS ricci_fuzz_programs TIMEOUT 900)
  foreach(isa avx2 plain)
    add_test(NAME fuzz.program_cpu_${isa} COMMAND fuzz_program_cpu)
    ricci_test_properties(fuzz.program_cpu_${isa} LABEL fuzz TIMEOUT 900 ENVIRONMENT RICCI_CPU_ISA=${isa} RICCI_FUZZ_CASES=60
      RICCI_FUZZ_SEED=50001)
  endforeach()
  add_test(NAME fuzz.program_cpu_orc COMMAND fuzz_program_cpu)
  ricci_test_properties(fuzz.program_cpu_orc LABEL fuzz TIMEOUT 900 ENVIRONMENT RICCI_LOADER=orc RICCI_FUZZ_CASES=40
    RICCI_FUZZ_SEED=70001)
  ricci_test(program_simt LABEL fuzz SOURCES program_simt.cpp LIBS ricci_fuzz_programs ricci_simt TIMEOUT 900)
endif()
ricci_test(program_nvrtc LABEL fuzz SOURCES program_nvrtc.cpp LIBS ricci_fuzz_programs TIMEOUT 900)
ricci_test(program_gpu LABEL gpu SOURCES program_gpu.cpp LIBS ricci_fuzz_programs TIMEOUT 1200)
