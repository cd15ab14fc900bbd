if(RICCI_CPU)
  ricci_test(one_entry LABEL run SOURCES one_entry.cpp LIBS ricci_runtime)
endif()
