# What programs refuse, with line, column and caret.
ricci_test(program LABEL error PROGRAM refusals SOURCES program.cpp LIBS ricci_lower)
