# The parts of the command line that need no compiler and no device (tools/).
if(RICCI_TOOLS)
  ricci_test(npy LABEL unit SOURCES npy.cpp LIBS ricci_tool)
  ricci_test(tool_text LABEL unit SOURCES tool_text.cpp LIBS ricci_tool)
endif()
