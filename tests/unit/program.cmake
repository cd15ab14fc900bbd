# Programs of statements: text, C++, lowering. Lowered programs are run by the interpreter and, as they read, by
# program_reference.cpp.
add_library(ricci_program_reference STATIC program_compare.cpp program_reference.cpp program_rounding.cpp)
target_include_directories(ricci_program_reference PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(ricci_program_reference PUBLIC ricci_lower PRIVATE ricci_options Catch2::Catch2 fmt::fmt)
ricci_test_library(ricci_program_reference)
foreach(part text front slots lower shorten complex)
  ricci_test(program_${part} FOLDER LABEL unit PROGRAM program SOURCES program_${part}.cpp LIBS ricci_program_reference)
endforeach()
