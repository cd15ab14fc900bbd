# Changed programs of the examples: hours of them where RICCI_FUZZ_CASES asks for it.
if(RICCI_CPU)
  ricci_test(mutated_programs LABEL deep SOURCES mutated_programs.cpp
    LIBS ricci_fuzz ricci_runtime ricci_codegen ricci_plan ricci_jit ricci_lower fmt::fmt TIMEOUT 7200)
  target_compile_definitions(deep_mutated_programs PRIVATE RICCI_PROGRAMS="${PROJECT_SOURCE_DIR}/examples/programs")
endif()
