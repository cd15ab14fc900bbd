# The Python package: python/tests, and the examples of docs/python.md. Skipped, saying why, where it was not built.
if(RICCI_PYTHON AND RICCI_CUDA AND TARGET ricci_python)
  add_test(NAME gpu.python COMMAND ${RICCI_PYTHON_INTERPRETER} -B ${PROJECT_SOURCE_DIR}/python/tests/run.py test_gpu)
  ricci_test_properties(gpu.python LABEL gpu
    ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${RICCI_PYTHON_PACKAGES}")
endif()
if(RICCI_PYTHON AND RICCI_CPU)
  foreach(name IN ITEMS test_arrays test_numpys_own test_calls test_exchange test_packages test_documents)
    if(TARGET ricci_python)
      add_test(NAME run.python_${name} COMMAND ${RICCI_PYTHON_INTERPRETER} -B ${PROJECT_SOURCE_DIR}/python/tests/run.py
        ${name})
    else()
      add_test(NAME run.python_${name} COMMAND ${CMAKE_COMMAND} -E echo "[SKIP] ${RICCI_PYTHON_REFUSED}")
    endif()
    ricci_test_properties(run.python_${name} LABEL run
      ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${RICCI_PYTHON_PACKAGES}")
    set_tests_properties(run.python_${name} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[SKIP\\]")
  endforeach()
  if(TARGET ricci_python)
    add_test(NAME run.notebook COMMAND ${RICCI_PYTHON_INTERPRETER} -B ${CMAKE_CURRENT_SOURCE_DIR}/notebook.py
      ${PROJECT_SOURCE_DIR}/examples/python.ipynb)
    ricci_test_properties(run.notebook LABEL run
      ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${RICCI_PYTHON_PACKAGES}")
    set_tests_properties(run.notebook PROPERTIES SKIP_REGULAR_EXPRESSION "\\[SKIP\\]")
  endif()
endif()
