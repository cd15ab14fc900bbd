# The interpreter, which everything else is tested against, against NumPy.
if(no_numpy)
  message(STATUS "test of the interpreter against NumPy: left out, it needs Python's numpy")
else()
  add_executable(run_numpy_oracle numpy_oracle.cpp)
  target_include_directories(run_numpy_oracle PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(run_numpy_oracle PRIVATE ricci_fuzz ricci_options)
  ricci_test_build(run_numpy_oracle)
  target_precompile_headers(run_numpy_oracle REUSE_FROM ricci_test_headers)
  add_test(NAME run.numpy_oracle
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/numpy_oracle.py $<TARGET_FILE:run_numpy_oracle> 500)
  ricci_test_properties(run.numpy_oracle LABEL run ENVIRONMENT ${python_path})
endif()
