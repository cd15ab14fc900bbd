# What the library refuses, by type and by text.
ricci_test(library LABEL error PROGRAM refusals SOURCES library.cpp LIBS ricci_runtime fmt::fmt)
if(RICCI_CPU)
  target_compile_definitions(error_refusals PRIVATE RICCI_TEST_CPU)
endif()
ricci_test(devices LABEL error PROGRAM refusals SOURCES devices.cpp LIBS ricci_runtime fmt::fmt ENVIRONMENT CUDA_VISIBLE_DEVICES=-1)
ricci_test(device_pointers LABEL error gpu SOURCES devices.cpp LIBS ricci_runtime fmt::fmt)
target_compile_definitions(error_device_pointers PRIVATE RICCI_TEST_DEVICE)
ricci_test(einsum LABEL error PROGRAM refusals SOURCES einsum.cpp LIBS ricci_lower fmt::fmt)
