# src/kernel: kernels and the rules that hold for them.
ricci_test(kernel_faults LABEL unit SOURCES kernel_faults.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_group LABEL unit SOURCES kernel_group.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_permute_faults LABEL unit SOURCES kernel_permute_faults.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_moves LABEL unit SOURCES kernel_moves.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_moves_rules LABEL unit SOURCES kernel_moves_rules.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_warp_group_faults LABEL unit SOURCES kernel_warp_group_faults.cpp LIBS ricci_kernel ricci_lower)
ricci_test(kernel_program_faults LABEL unit SOURCES kernel_program_faults.cpp LIBS ricci_kernel)
ricci_test(kernel_program_loops LABEL unit SOURCES kernel_program_loops.cpp LIBS ricci_kernel)
