"""libricci-clang.so, which the package ricci opens when a kernel for the CPU has to be compiled."""
