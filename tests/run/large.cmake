# 4.3 GB of memory each: left out under the sanitizers, whose shadow would double it.
if(NOT RICCI_SANITIZE)
  if(RICCI_CPU)
    ricci_test(large LABEL run SOURCES large.cpp LIBS ricci_runtime)
  endif()
  ricci_test(large_gpu LABEL gpu SOURCES large.cpp LIBS ricci_runtime)
  target_compile_definitions(gpu_large_gpu PRIVATE RICCI_TEST_GPU)
endif()
