# The C interface with arguments that no careful caller passes.
if(RICCI_CPU)
  ricci_test(c_api LABEL deep SOURCES c_api.cpp c_api_by_value.c LIBS ricci_runtime ricci_fuzz TIMEOUT 1200)
endif()
