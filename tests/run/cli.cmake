# The command line, driven from outside. Without the CPU back end it is the same program with one answer less, so only
# what a GPU is needed for is left to test.
find_package(Python3 COMPONENTS Interpreter)
if(RICCI_TOOLS AND NOT Python3_FOUND)
  message(STATUS "tests of the command line: left out, they need python3")
elseif(RICCI_TOOLS)
  set(names)
  if(RICCI_CPU)
    list(APPEND names cli_permute cli_einsum cli_run cli_show cli_cache cli_tune cli_words)
  endif()
  if(RICCI_CUDA)
    list(APPEND names cli_gpu)
  endif()
  foreach(name IN LISTS names)
    add_test(NAME run.${name}
      COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${name}.py $<TARGET_FILE:ricci_command>)
    ricci_test_properties(run.${name} LABEL run)
  endforeach()
  if(RICCI_CPU)
    add_test(NAME deep.cli_memory COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/cli_memory.py
      $<TARGET_FILE:ricci_command> ${PROJECT_SOURCE_DIR}/examples/programs)
    ricci_test_properties(deep.cli_memory LABEL deep limits TIMEOUT 1800)
    ricci_test_properties(run.cli_tune LABEL run limits TIMEOUT 900)  # it measures, beside whatever else runs
    # First: a new checkout knows no times, and these wait more than they compute.
    set_tests_properties(deep.cli_memory run.cli_tune PROPERTIES COST 100)
  endif()
  if(RICCI_CUDA)
    ricci_test_properties(run.cli_gpu LABEL run gpu)
  endif()
endif()
