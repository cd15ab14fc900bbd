# 4.3 GB of memory each.
if(RICCI_CPU)
  ricci_test(large LABEL run limits SOURCES large.cpp LIBS ricci_runtime)
endif()
ricci_test(large_gpu LABEL gpu limits SOURCES large.cpp LIBS ricci_runtime)
target_compile_definitions(gpu_large_gpu PRIVATE RICCI_TEST_GPU)
