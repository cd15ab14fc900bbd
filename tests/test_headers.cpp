// A source for the target that has the tests' precompiled headers: it needs one.
