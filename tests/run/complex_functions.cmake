if(RICCI_CPU)
  ricci_test(complex_functions LABEL run PROGRAM long SOURCES complex_functions.cpp LIBS ricci_runtime fmt::fmt)
endif()
