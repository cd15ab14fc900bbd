# Python's headers and nanobind, from the interpreter's own packages or from RICCI_PYTHON_PACKAGES.
#
# RICCI_PYTHON_REFUSED says in the end why the package is not built; it is empty where it is.
set(RICCI_PYTHON_REFUSED "" CACHE INTERNAL "Why the Python package is not built")

function(ricci_python_refuse reason)
  if(RICCI_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "RICCI_PYTHON=ON: ${reason}")
  endif()
  message(STATUS "Python package: left out, ${reason}")
  set(RICCI_PYTHON_REFUSED "${reason}" CACHE INTERNAL "Why the Python package is not built")
endfunction()

if(RICCI_SANITIZE)
  ricci_python_refuse("the interpreter is not instrumented (RICCI_SANITIZE)")
  return()
endif()
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
else()
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
endif()
if(NOT Python_FOUND)
  ricci_python_refuse("it needs Python 3.10 or later with its headers (python3-dev)")
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
  OUTPUT_VARIABLE RICCI_PYTHON_FREE_THREADED OUTPUT_STRIP_TRAILING_WHITESPACE)
set(RICCI_PYTHON_INTERPRETER ${Python_EXECUTABLE} CACHE INTERNAL "Interpreter that the Python package is built for")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${RICCI_PYTHON_PACKAGES} ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind 3 CONFIG QUIET)
if(NOT nanobind_FOUND)
  ricci_python_refuse("${Python_EXECUTABLE} has no nanobind 3 (pip install nanobind, or name its folder in RICCI_PYTHON_PACKAGES)")
endif()
