# The C interface with arguments that no careful caller passes.
if(RICCI_CPU)
  set_source_files_properties(c_api_by_value.c PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  ricci_test(c_api LABEL fuzz SOURCES c_api.cpp c_api_by_value.c LIBS ricci_runtime ricci_fuzz TIMEOUT 1200)
  ricci_deep(c_api 20000)
endif()
