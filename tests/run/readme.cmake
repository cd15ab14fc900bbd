if(RICCI_CPU AND RICCI_CUDA AND RICCI_TOOLS)
  add_test(NAME run.readme COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/readme.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:ricci_command>)
  ricci_test_properties(run.readme LABEL run)
endif()
add_test(NAME run.plots COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/plots.py ${PROJECT_SOURCE_DIR})
ricci_test_properties(run.plots LABEL run)
