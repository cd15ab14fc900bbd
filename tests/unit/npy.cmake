# The reader and writer of .npy files (tools/npy.hpp).
if(RICCI_TOOLS)
  ricci_test(npy LABEL unit SOURCES npy.cpp LIBS ricci_tool)
endif()
