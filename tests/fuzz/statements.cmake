# Random programs of statements, through the interpreter.
ricci_test(statements LABEL fuzz PROGRAM cases SOURCES statements.cpp LIBS ricci_program_reference fmt::fmt)
ricci_deep(statements 600)
