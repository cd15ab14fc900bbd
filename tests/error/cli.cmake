# What the command line refuses.
find_package(Python3 COMPONENTS Interpreter)
if(RICCI_TOOLS AND RICCI_CPU AND Python3_FOUND)
  add_test(NAME error.cli_errors
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/cli_errors.py $<TARGET_FILE:ricci_command>)
  ricci_test_properties(error.cli_errors LABEL error)
endif()
