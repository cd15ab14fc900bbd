# Random einsums, through the public interface.
if(RICCI_CPU)
  ricci_test(einsum_cpu LABEL fuzz SOURCES einsum_cpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
endif()
