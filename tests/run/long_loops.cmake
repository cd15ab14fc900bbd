if(RICCI_CPU)
  ricci_test(long_loops LABEL run PROGRAM long SOURCES long_loops.cpp LIBS ricci_runtime ricci_codegen ricci_plan ricci_jit)
endif()
