# What programs refuse, with line, column and caret.
ricci_test(program LABEL error SOURCES program.cpp LIBS ricci_lower)
