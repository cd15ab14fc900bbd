# Random contractions for a GPU, on the simulator.
if(RICCI_CPU)
  ricci_test(contraction_simt LABEL fuzz SOURCES contraction_simt.cpp LIBS ricci_fuzz ricci_simt ricci_codegen ricci_plan TIMEOUT 1200)
  ricci_deep(contraction_simt 3000)
endif()
