if(RICCI_CUDA AND RICCI_TOOLS)
  add_test(NAME run.inner_loop COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/inner_loop.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:ricci_command>)
  ricci_test_properties(run.inner_loop LABEL run TIMEOUT 300)
  set_property(TEST run.inner_loop PROPERTY SKIP_RETURN_CODE 77)
  add_test(NAME run.occupancy COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/occupancy.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:ricci_bench_command>)
  ricci_test_properties(run.occupancy LABEL run TIMEOUT 300)
endif()
