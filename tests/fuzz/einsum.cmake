# Random einsums: through the public interface, and kernel by kernel on the simulator.
if(RICCI_CPU)
  ricci_test(einsum_cpu LABEL fuzz PROGRAM cpu SOURCES einsum_cpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
  ricci_deep(einsum_cpu 2000)
  ricci_fuzz_elsewhere(einsum_cpu 8 2000)
  ricci_test(einsum_simt LABEL fuzz PROGRAM simt SOURCES einsum_simt.cpp LIBS ricci_fuzz ricci_simt TIMEOUT 1200)
  ricci_deep(einsum_simt 2000)
endif()
ricci_test(einsum_gpu LABEL gpu PROGRAM fuzz SOURCES einsum_gpu.cpp LIBS ricci_fuzz TIMEOUT 1200)
