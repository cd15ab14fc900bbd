# The command line, driven from outside.
find_package(Python3 COMPONENTS Interpreter)
if(RICCI_TOOLS AND NOT Python3_FOUND)
  message(STATUS "tests of the command line: left out, they need python3")
elseif(RICCI_TOOLS)
  foreach(name cli_permute cli_show cli_cache)
    add_test(NAME run.${name}
      COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${name}.py $<TARGET_FILE:ricci_command>)
    ricci_test_properties(run.${name} LABEL run)
  endforeach()
  add_test(NAME run.cli_gpu
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/cli_gpu.py $<TARGET_FILE:ricci_command>)
  ricci_test_properties(run.cli_gpu LABEL run gpu)
endif()
