# Changed programs of the examples.
if(RICCI_CPU)
  ricci_test(mutated_programs LABEL fuzz SOURCES mutated_programs.cpp
    LIBS ricci_fuzz ricci_runtime ricci_codegen ricci_plan ricci_jit ricci_lower fmt::fmt TIMEOUT 7200)
  target_compile_definitions(fuzz_mutated_programs PRIVATE RICCI_PROGRAMS="${PROJECT_SOURCE_DIR}/examples/programs")
  ricci_deep(mutated_programs 20000)
endif()
