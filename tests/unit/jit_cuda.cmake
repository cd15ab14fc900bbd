# src/jit, the CUDA half: NVRTC and the driver.
ricci_test(jit_cuda_library LABEL unit PROGRAM jit SOURCES jit_cuda_library.cpp LIBS ricci_jit)
ricci_test(jit_cuda_disassemble LABEL unit PROGRAM jit SOURCES jit_cuda_disassemble.cpp LIBS ricci_jit)
# One test each: what they check is the state of a fresh process.
ricci_test(jit_cuda_no_device LABEL unit PROGRAM jit SOURCES jit_cuda_no_device.cpp LIBS ricci_jit ENVIRONMENT CUDA_VISIBLE_DEVICES=-1)
if(NOT RICCI_CUDA)
  ricci_test(jit_cuda_off LABEL unit SOURCES jit_cuda_off.cpp LIBS ricci_jit)
  return()
endif()
ricci_test(jit_cuda_no_nvrtc LABEL unit PROGRAM jit SOURCES jit_cuda_no_nvrtc.cpp LIBS ricci_jit
  ENVIRONMENT RICCI_NVRTC=/nonexistent/libnvrtc.so.13)
ricci_test(jit_cuda_version LABEL unit PROGRAM jit SOURCES jit_cuda_version.cpp LIBS ricci_jit)
ricci_test(jit_cuda_compiler LABEL unit PROGRAM jit SOURCES jit_cuda_compiler.cpp LIBS ricci_jit)
set_tests_properties(unit.jit_cuda_compiler unit.jit_cuda_version PROPERTIES SKIP_REGULAR_EXPRESSION "\\[SKIP\\] no NVRTC")
ricci_test(jit_cuda LABEL gpu SOURCES jit_cuda_gpu.cpp LIBS ricci_jit)
target_link_libraries(gpu_jit_cuda PRIVATE ${CMAKE_DL_LIBS})

# Our declarations against NVIDIA's, where a toolkit has them.
find_path(RICCI_CUDA_INCLUDE cuda.h HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
mark_as_advanced(RICCI_CUDA_INCLUDE)
if(RICCI_CUDA_INCLUDE AND EXISTS ${RICCI_CUDA_INCLUDE}/nvrtc.h)
  ricci_test(jit_cuda_api LABEL unit SOURCES jit_cuda_api.cpp LIBS ricci_jit)
  target_include_directories(unit_jit_cuda_api SYSTEM PRIVATE ${RICCI_CUDA_INCLUDE})
endif()
