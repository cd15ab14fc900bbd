# Two processes on one cache. The helper links the shared library, as a user's program does.
add_executable(run_warm_helper warm_helper.cpp)
target_link_libraries(run_warm_helper PRIVATE ricci::ricci ricci_options)
ricci_test(warm LABEL run SOURCES warm.cpp LIBS ricci_jit ricci_cache)
target_compile_definitions(run_warm PRIVATE RICCI_WARM_HELPER="$<TARGET_FILE:run_warm_helper>"
  RICCI_PROGRAMS_DIR="${PROJECT_SOURCE_DIR}/examples/programs")
if(RICCI_CPU)
  target_compile_definitions(run_warm PRIVATE RICCI_TEST_CPU)
endif()
add_dependencies(run_warm run_warm_helper)
if(RICCI_SANITIZE)
  # At the end of a process with NVRTC's threads the leak detector's own tracer crashes.
  set_property(TEST run.warm APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()
