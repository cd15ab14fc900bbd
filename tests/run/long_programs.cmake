if(RICCI_CPU)
  ricci_test(long_programs LABEL run limits PROGRAM long SOURCES long_programs.cpp LIBS ricci_runtime ricci_jit fmt::fmt)
endif()
