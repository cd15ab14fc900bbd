if(RICCI_CUDA AND RICCI_TOOLS)
  add_test(NAME run.readme COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/readme.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:ricci_command>)
  ricci_test_properties(run.readme LABEL run)
endif()
