# The CPU half of src/jit.
ricci_test(jit_cpu_target LABEL unit PROGRAM jit SOURCES jit_cpu_target.cpp LIBS ricci_jit)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  ricci_test(jit_cpu_arena LABEL unit PROGRAM jit SOURCES jit_cpu_arena.cpp LIBS ricci_jit)
endif()
if(RICCI_CPU)
  ricci_test(jit_cpu_compiler LABEL unit SOURCES jit_cpu_compiler.cpp LIBS ricci_jit)
  # Instrumented kernels call back into the program.
  set_target_properties(unit_jit_cpu_compiler PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(unit_jit_cpu_compiler PRIVATE fmt::fmt)
  if(RICCI_SANITIZE)
    # The thread of a fatal LLVM error is kept, with all that it had allocated, and the leak checker falls over it.
    set_property(TEST unit.jit_cpu_compiler APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  endif()
else()
  ricci_test(jit_cpu_none LABEL unit SOURCES jit_cpu_none.cpp LIBS ricci_jit)
endif()
